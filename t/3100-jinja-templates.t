# Published chat templates (t/data/chat/templates, see ORIGIN.md there) and
# the demo model's own, rendered over the conversations of
# t/data/chat/conversations.json, byte for byte as @huggingface/jinja and
# Jinja2 render them (t/data/chat/expected). And: no byte of a caller's string
# is ever markup.
use strict;
use warnings;
use Test::More;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use JSON::PP;
use lib 't/lib';
use Pen::Renderings qw(read_json render compare map_of);

my $tool = abs_path($ENV{BUILD} // 'build') . '/t/unit/jinja_tool';
plan skip_all => "$tool is missing: make tests" unless -x $tool;

my $data = 't/data/chat';
my $dir = tempdir(CLEANUP => 1);

sub write_file {
    my ($file, $bytes) = @_;
    open my $out, '>:raw', $file or die "$file: $!\n";
    print $out $bytes;
    close $out or die "$file: $!\n";
}

# The demo model's template is a string in the script that trains it.
sub demo_template {
    open my $in, '<:raw', 'contrib/demo-model/chatml.py' or die "$!\n";
    local $/;
    <$in> =~ /^TEMPLATE = r"""(.*?)"""/ms or die "no TEMPLATE\n";
    write_file("$dir/demo-model.jinja", $1);
    return "$dir/demo-model.jinja";
}

my @names = map { m{([^/]+)\.json$} } sort glob "$data/expected/*.json";
my %path = map { $_ => "$data/templates/$_.jinja" } @names;
$path{'demo-model'} = demo_template();
is_deeply [sort grep { $_ ne 'demo-model' } @names],
    [sort map { m{([^/]+)\.jinja$} } glob "$data/templates/*.jinja"],
    'every template has its expectations';

my %want = map { $_ => read_json("$data/expected/$_.json") } @names;
my ($now) = map { $_->{now} } values %want;
my @got = render($tool, $now, "$data/conversations.json", @path{@names});

my ($total, $served) = (0, 0);
for my $name (@names) {
    my ($good, @bad) = compare(shift @got, $want{$name}{renderings});
    ok !@bad, "$name: $good renderings agree";
    diag "$name: ", scalar(@bad), " of ", $good + @bad, " differ; $bad[0]"
        if @bad;
    $total += $good;
    # those that @huggingface/jinja made
    $served++ if 12 <= grep { !ref } values %{ $want{$name}{renderings} };
}
cmp_ok $served, '>=', 25, 'enough templates with 12 renderings or more';
note "$total renderings of ", scalar(@names), ' templates';

# --- provenance ----------------------------------------------------------
# Every string that a caller controls begins and ends with a mark. Identifiers
# of calls become nine letters and digits, as some templates insist.
my $mark = 'QzXq7Qz';
my $ids = 0;
my %fixed = map { $_ => 1 } qw(role type);

sub marked {
    my ($v, $key) = @_;
    return { map { my $k = $_;
            ($key =~ /^(?:arguments|properties|limits)$/ ? "$mark$k" : $k) =>
                marked($v->{$k}, $k) } keys %$v } if ref $v eq 'HASH';
    return [map { marked($_, $key) } @$v] if ref $v eq 'ARRAY';
    return $v if !defined $v || ref $v || $fixed{$key};
    return $v unless JSON::PP->new->allow_nonref->encode($v) =~ /^"/;
    return sprintf '%s%02d', $mark, $ids++ % 100 if $key =~ /^(?:tool_call_)?id$/;
    return "$mark$v$mark";
}

my $conversations = read_json("$data/conversations.json");
for my $c (@$conversations) {
    my $vars = $c->{vars};
    $vars->{$_} = marked($vars->{$_}, $_)
        for grep { exists $vars->{$_} } qw(messages tools model_identity);
}
write_file("$dir/marked.json", JSON::PP->new->utf8->encode($conversations));
@got = render($tool, $now, "$dir/marked.json", @path{@names});
for my $name (@names) {
    my $got = shift @got;
    my ($marks, $markup, @forged) = (0, 0);
    for my $c (sort keys %$got) {
        next if !ref $got->{$c} || $got->{$c}{error};
        my ($bytes, $map) = map_of($got->{$c});
        $markup += $map =~ tr/1//;
        while ($bytes =~ /$mark/g) {
            $marks++;
            push @forged, $c
                if substr($map, $-[0], length $mark) =~ /1/;
        }
    }
    cmp_ok $marks, '>', 20, "$name: callers' strings are there";
    cmp_ok $markup, '>', 20, "$name: the template's own text is markup";
    is "@forged", '', "$name: nothing of a caller is markup";
}
done_testing;
