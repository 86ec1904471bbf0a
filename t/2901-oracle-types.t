#!/usr/bin/perl
# Greedy ids of penstock and of llama.cpp (node-llama-cpp 3.22.1): random
# models of every weight type in every architecture. See Pen::Oracle.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Oracle qw(oracle_missing oracle_make oracle_compare);

plan skip_all => oracle_missing() if oracle_missing();

# Both engines round activations for block types, each in its own way: one
# layer keeps what that adds up to under the tolerance. For blocks of 256
# llama.cpp rounds by the largest of 256 activations, not of 32. With logits of
# a standard deviation of 1 some texts part there at gaps from 0.05 to 0.11,
# where a computation without any rounding lies between the two engines: these
# models have logits a quarter as large, which changes no id.
my @floats = qw(f32 f16 bf16);
my @blocks = qw(q8_0 q4_0 q4_1 q5_0 q5_1 iq4_nl mxfp4);
my @large = qw(q2_k q3_k q4_k q5_k q6_k iq4_xs q4_k_m);
my %arch = (qwen3 => [], qwen2 => ['--untied'], llama => ['--untied']);
my @long = map { $_ * 7 % 256 } 1 .. 70;
my @jobs;

for my $arch (sort keys %arch) {
    for ((map { [$_, 2, 1] } @floats), (map { [$_, 1, 1] } @blocks),
        map { [$_, 1, 0.25] } @large) {
        my ($type, $layers, $logits) = @$_;
        push @jobs, { n => 64, prompts => [[1 .. 8], \@long],
            model => oracle_make("$arch-$type", '--arch', $arch, '--type',
                $type, '--layers', $layers, '--logits', $logits,
                @{ $arch{$arch} }) };
    }
}
oracle_compare(@jobs);
done_testing;
