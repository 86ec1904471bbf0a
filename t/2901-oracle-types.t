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
# layer keeps what that adds up to under the tolerance.
my @floats = qw(f32 f16 bf16);
my @blocks = qw(q8_0 q4_0 q4_1 q5_0 q5_1 q2_k q3_k q4_k q5_k q6_k iq4_nl
    iq4_xs mxfp4 q4_k_m);
my %arch = (qwen3 => [], qwen2 => ['--untied'], llama => ['--untied']);
my @long = map { $_ * 7 % 256 } 1 .. 70;
my @jobs;

for my $arch (sort keys %arch) {
    for ((map { [$_, 2] } @floats), map { [$_, 1] } @blocks) {
        my ($type, $layers) = @$_;
        push @jobs, { n => 64, prompts => [[1 .. 8], \@long],
            model => oracle_make("$arch-$type", '--arch', $arch, '--type',
                $type, '--layers', $layers, @{ $arch{$arch} }) };
    }
}
oracle_compare(@jobs);
done_testing;
