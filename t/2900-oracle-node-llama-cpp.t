#!/usr/bin/perl
# Greedy ids of penstock and of llama.cpp (node-llama-cpp 3.22.1): the demo
# model, and random ones of every architecture, tied and untied, with each way
# to scale rotary positions. t/2901 has every weight type. See Pen::Oracle.
use strict;
use warnings;
use Test::More;
use JSON::PP;
use lib 't/lib';
use Pen::Gguf 'gguf_write';
use Pen::Oracle qw(oracle_missing oracle_dir oracle_make oracle_compare);

plan skip_all => oracle_missing() if oracle_missing();
my $n    = 64;
my $demo = 'contrib/demo-model';

sub slurp {
    open my $in, '<:raw', $_[0] or die "$_[0]: $!\n";
    local $/;
    return scalar readline $in;
}

# Prompts of the demo model: those of its vectors.
my $vectors = decode_json(slurp("$demo/vectors.json"));
my @jobs;
for my $m (@{$vectors->{models}}) {
    my @prompts = map { $_->{ids} } @{$m->{prompts}};
    @prompts = @prompts[0, 4, 8, 12] if @prompts > 4;
    push @jobs, { model => "$demo/$m->{file}", n => $n, prompts => \@prompts };
}

# Random models. Ids below 256 exist in each vocabulary. llama.cpp wants
# heads * head_dim equal to the width for qwen2.
my @random = (
    ['qwen2',  qw(--arch qwen2 --width 96 --heads 3 --kv-heads 1 --type f16)],
    ['qwen2u', qw(--arch qwen2 --width 64 --heads 4 --type f32 --untied)],
    ['llama',  qw(--arch llama --width 96 --heads 3 --kv-heads 1 --type f16
        --layers 4)],
    ['llamau', qw(--arch llama --width 64 --heads 4 --kv-heads 4 --type f32
        --untied --rope-base 500000)],
    ['qwen3',  qw(--arch qwen3 --width 64 --heads 3 --kv-heads 1
        --head-dim 64 --type f16 --untied --vocab synthetic:2000)],
);
my @long = map { $_ * 7 % 256 } 1 .. 70;
push @jobs, { model => oracle_make(@$_), n => $n,
    prompts => [[1 .. 8], \@long] } for @random;

# Rotary positions: the weights of one model with each way to scale them.
my @small = qw(--width 64 --heads 4 --type f32 --untied --layers 3
    --rope-base 100);
my @rope = ([plain => ()], ['linear', '--rope-linear', 4],
    ['factors', '--rope-factors', '1,1.5,8,32'],
    [yarn => '--rope-yarn', '4,32'], # the last: the first half of a head turns
    [half => '--rope-factors', join(',', (map { 100 ** ($_ / 8) } 0 .. 3),
        (1e30) x 4)]);
for my $arch ('llama', 'qwen3') {
    for (@rope) {
        my ($name, @options) = @$_;
        next if "@options" =~ /factors/ && $arch ne 'llama'; # llama.cpp has none
        push @jobs, { n => $n, prompts => [\@long],
            model => oracle_make("$arch-$name", '--arch', $arch, @small,
                @options) };
    }
}
# A factor and no type: linear.
my $untyped = slurp(oracle_dir() . '/llama-linear.gguf');
$untyped =~ s/rope\.scaling\.type/rope.scaling.tipe/ or die;
gguf_write(oracle_dir() . '/llama-untyped.gguf', $untyped);
push @jobs, { model => oracle_dir() . '/llama-untyped.gguf', n => $n,
    prompts => [\@long] };

# llama.cpp reads no head of these architectures that turns in part, so we
# read another file than it: there the frequencies of half a head in their
# places of a whole one, and the rest all but 0.
my ($half) = grep { $_->{model} =~ /llama-half/ } @jobs;
$half->{ours} = oracle_make('half', qw(--arch llama --rope-dims 8), @small);

my $said = oracle_compare(@jobs);
isnt $said->{$_}, $said->{s/-.*/-plain/r}, "$_: scaling matters to this prompt"
    for qw(llama-linear llama-factors qwen3-linear llama-yarn qwen3-yarn
        llama-half);
isnt $said->{$_}, $said->{s/yarn/linear/r}, "$_ is not linear"
    for qw(llama-yarn qwen3-yarn);
is $said->{'llama-untyped'}, $said->{'llama-linear'},
    'a factor without a type';
done_testing;
