#!/usr/bin/perl
# Perplexity of the demo model over a fixed text of 4096 ids, in windows of
# 512: within 0.5 % of what llama.cpp (node-llama-cpp 3.22.1, its prebuilt CPU
# library) says about the same file.
use strict;
use warnings;
use Test::More;
use File::Temp;
use JSON::PP;
use List::Util 'sum';
use lib 't/lib';
use Pen::Gguf 'gguf_check';

my $tool   = ($ENV{BUILD} // 'build') . '/t/unit/perplexity_tool';
my $node   = 't/js/node_modules/.bin/node';
my $text   = 't/data/engine/perplexity-ids.txt';
my $window = 512;
my @models = map { "contrib/demo-model/penstock-demo-$_.gguf" } qw(f16 q8_0);

plan skip_all => 'node-llama-cpp is not installed in t/js'
    unless -x $node && -d 't/js/node_modules/node-llama-cpp';
plan skip_all => "$tool is not built" unless -x $tool;

open my $in, '<', $text or die "$text: $!\n";
my @ids = map { /^#/ ? () : split } <$in>;
close $in;
is scalar @ids, 4096, 'the text has 4096 ids';

my $dir = File::Temp->newdir;
open my $request, '>', "$dir/request.json" or die $!;
print {$request} encode_json({ models => \@models, window => $window,
    ids => [map { $_ + 0 } @ids] });
close $request or die $!;
my ($status, $out, $err) = gguf_check('/bin/sh', '-c',
    "exec $node t/js/perplexity-llama-cpp.mjs <$dir/request.json");
is $status, 0, 'llama.cpp answers' or BAIL_OUT($err);
my $theirs = decode_json($out);

for my $i (0 .. $#models) {
    my ($name) = $models[$i] =~ m{([^/]+)\.gguf$};
    my %said;
    for my $rows (64, 7) {
        my ($st, $lines, $why) = gguf_check($tool, $models[$i], $text,
            $window, $rows);
        is $st, 0, "$name, $rows rows a step" or diag $why;
        $said{$rows} = $lines;
    }
    is $said{7}, $said{64}, 'how many rows makes no difference';
    my @nats = split ' ', $said{64};
    is scalar @nats, 8, 'eight windows';
    my $n = @ids - @nats;
    is $theirs->[$i]{n}, $n, "$n ids are predicted";
    my ($ours, $peer) = map { exp(sum(@$_) / $n) } \@nats,
        $theirs->[$i]{nats};
    ok abs($ours / $peer - 1) < 0.005,
        sprintf '%s: perplexity %.4f, llama.cpp %.4f', $name, $ours, $peer;
    note sprintf 'differs by %.3f %%', 100 * ($ours / $peer - 1);
}
done_testing;
