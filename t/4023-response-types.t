# What the official package declares of a request to /v1/responses: every type
# of an item is read or skipped, every type of a tool is served or skipped,
# every word of include is known, and a choice of what is skipped is refused.
use strict;
use warnings;
use Test::More;
use File::Temp;
use JSON::PP;

my $build = $ENV{BUILD} // 'build';
my $tool = "$build/t/unit/api_body_error";
my $types = 't/js/node_modules/openai/resources/responses/responses.d.ts';
plan skip_all => "$tool is not built" unless -x $tool;
plan skip_all => 'the openai package is not installed (t/js/install.sh)'
    unless -r $types;
my $d = do { local (@ARGV, $/) = $types; <> };
$d =~ s{/\*.*?\*/}{}gs;

# The members of a union that is written in one line.
sub union {
    my ($name) = @_;
    my ($list) = $d =~ /^export type \Q$name\E = ([^;]+);/m
        or die "no union $name";
    return split / \| /, $list;
}

# The literals of the member `type` of an interface, in its namespace or not;
# none for one that may go without.
sub types_of {
    my ($name) = @_;
    my ($text, $in) = ($d, '');
    if ($name =~ s/^(\w+)\.//) {
        ($text) = $d =~ /^export declare namespace $1 \{\n(.*?)^\}/ms;
        $in = '    ';
    }
    my ($body) = $text =~ /^$in(?:export )?interface \Q$name\E \{\n(.*?)^$in\}/ms
        or die "no interface $name";
    my ($type) = $body =~ /^$in    type\??: ([^;]+);/m
        or die "no type in $name";
    return $type =~ /'([\w.]+)'/g;
}

# Status and param of a body.
my $file = File::Temp->new;
sub answer {
    my ($body) = @_;
    open my $out, '>', $file->filename or die "$file: $!";
    print $out encode_json($body);
    close $out or die "$file: $!";
    my ($status, $json) = split /\n/, qx{$tool responses <$file}, 2;
    return $status == 200 ? 200
        : "$status " . decode_json($json)->{error}{param};
}

my $hi = { role => 'user', content => 'Hi' };
my %items = map { $_ => 1 } map { types_of($_) } union('ResponseInputItem');
cmp_ok scalar keys %items, '>', 25, 'types of items';
for my $type (sort keys %items) {
    my $got = answer({ input => [ $hi, { type => $type } ] });
    if ($type =~ /^(?:compaction_trigger|configuration_update)$/) {
        is $got, '400 input[1].type', "$type asks for what is not done";
    } else {
        isnt $got, '400 input[1].type', "$type is known";
    }
}
is answer({ input => [ $hi, { type => 'banana' } ] }), '400 input[1].type',
    'another is not';

my $served = qr/\A(?:function|namespace|custom)\z/;
my %tools = map { $_ => 1 } map { types_of($_) } union('Tool');
cmp_ok scalar keys %tools, '>', 12, 'types of tools';
for my $type (sort keys %tools) {
    is answer({ input => 'Hi', tools => [ { type => $type } ] }),
        $type =~ $served ? '400 tools[0].name' : 200, "a tool: $type";
}

is answer({ input => 'Hi', include => [ map { /'(.*)'/ }
    union('ResponseIncludable') ] }), 200, 'every word of include';

my @choices = map { types_of($_) } grep { /^ToolChoice(?!Options)/ }
    split / \| /, ($d =~ /^    tool_choice\?: (.*);$/m)[0];
cmp_ok scalar @choices, '>', 10, 'types of choices';
for my $type (@choices) {
    is answer({ input => 'Hi', tools => [ { type => $type } ],
        tool_choice => { type => $type, name => 'f' } }),
        $type =~ $served ? '400 tools[0].name' : '400 tool_choice',
        "a choice: $type";
}
done_testing;
