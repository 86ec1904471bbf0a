# The tokenizer vectors of the demo model (contrib/demo-model/vectors.json,
# made by its Python reference and checked against a llama.cpp build), through
# `penstock tokenize`; and back through `penstock detokenize`.
use strict;
use warnings;
use Test::More;
use Cwd 'abs_path';
use JSON::PP;

my $build = abs_path($ENV{BUILD} // 'build');
my $dir = 'contrib/demo-model';
plan skip_all => "$build/penstock is missing: make" unless -x "$build/penstock";
plan skip_all => "$dir is missing" unless -e "$dir/vectors.json";

sub run {
    open my $p, '-|', "$build/penstock", @_ or die "penstock: $!\n";
    local $/;
    my $out = <$p>;
    close $p;
    return $? ? "status $?" : $out;
}

open my $in, '<', "$dir/vectors.json" or die "vectors: $!\n";
my $v = decode_json(do { local $/; <$in> });

sub both_ways {
    my ($file, $n, $case, @mode) = @_;
    my $text = $case->{text};
    utf8::encode($text);
    my $ids = join ',', @{ $case->{ids} };
    is run('tokenize', '-m', "$dir/$file", @mode, '--', $text), "$ids\n",
        "$file: text $n";
    is run('detokenize', '-m', "$dir/$file", $ids), $text, "$file: ids $n"
        if length $ids;
}

my $demo = 'penstock-demo-q8_0.gguf';
my $n = 0;
both_ways($demo, $n++, $_, '--markup') for @{ $v->{tokenizer} };
is $n, 18, 'all texts of the demo vocabulary';
for my $m (@{ $v->{models} }) {
    next unless $m->{tokenizer};
    $n = 0;
    both_ways($m->{file}, $n++, $_) for @{ $m->{tokenizer} };
    is $n, 7, "all texts of $m->{file}";
}

# The same spellings as content are text: ids of control and user-defined
# tokens are the last nine of this vocabulary.
for my $case (grep { $_->{text} =~ /</ } @{ $v->{tokenizer} }) {
    my $j = decode_json(run('tokenize', '-m', "$dir/$demo", '--json', '--',
        $case->{text}));
    is scalar(grep { $_ >= 3063 } @{ $j->{ids} }), 0,
        'content never becomes structure';
    is join('', @{ $j->{pieces} }), $case->{text}, 'and its pieces are the text';
}

is run('tokenize', '-m', "$dir/$demo", '-'), "\n", 'standard input, empty';
done_testing;
