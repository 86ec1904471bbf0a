#!/usr/bin/perl
# llama.cpp (node-llama-cpp 3.22.1, its prebuilt CPU library) and penstock
# continue the same ids greedily. 48 tokens agree, or the first that differs
# stands where llama.cpp saw the best two less than 0.05 nats apart: there
# another rounding may rightly choose the other.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use JSON::PP;
use lib 't/lib';
use Pen::Gguf qw(gguf_check gguf_write);

my $penstock = ($ENV{BUILD} // 'build') . '/penstock';
my $node     = 't/js/node_modules/.bin/node';
my $n        = 48;
my $near     = 0.05;

plan skip_all => 'node-llama-cpp is not installed in t/js'
    unless -x $node && -d 't/js/node_modules/node-llama-cpp';
plan skip_all => 'this penstock has no command run'
    unless -x $penstock && `$penstock --help` =~ /^ +run\b/m;
$ENV{NODE} = $node;

my $dir  = tempdir(CLEANUP => 1);
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

# Random models: every type once, every architecture tied and untied. Ids
# below 256 exist in each vocabulary. llama.cpp wants heads * head_dim equal
# to the width for qwen2. For block types it rounds activations to 8 bits:
# one layer keeps what that adds up to under the tolerance.
my @random = (
    (map { [$_, '--type', $_, '--layers', 2] } qw(f32 f16 bf16)),
    (map { [$_, '--type', $_, '--layers', 1] } qw(q8_0 q4_0 q4_k q5_k q6_k)),
    ['qwen2',  qw(--arch qwen2 --width 96 --heads 3 --kv-heads 1 --type f16)],
    ['qwen2u', qw(--arch qwen2 --width 64 --heads 4 --type f32 --untied)],
    ['llama',  qw(--arch llama --width 96 --heads 3 --kv-heads 1 --type f16
        --layers 4)],
    ['llamau', qw(--arch llama --width 64 --heads 4 --kv-heads 4 --type f32
        --untied --rope-base 500000)],
    ['qwen3',  qw(--arch qwen3 --width 64 --heads 3 --kv-heads 1
        --head-dim 64 --type f16 --untied --vocab synthetic:2000)],
);
sub make {
    my ($name, @options) = @_;
    my ($status, $out, $err) = gguf_check('contrib/mkmodel', @options, '-o',
        "$dir/$name.gguf");
    die "mkmodel @options: $err" if $status;
}
my @long = map { $_ * 7 % 256 } 1 .. 70;
for (@random) {
    make(@$_);
    push @jobs, { model => "$dir/$_->[0].gguf", n => $n,
        prompts => [[1 .. 8], \@long] };
}

# Rotary positions: the weights of one model with each way to scale them.
my @rope = ([plain => ()], ['linear', '--rope-linear', 4],
    ['factors', '--rope-factors', '1,1.5,8,32']);
for my $arch ('llama', 'qwen3') {
    for (@rope) {
        my ($name, @options) = @$_;
        next if $name eq 'factors' && $arch ne 'llama'; # llama.cpp has none
        make("$arch-$name", '--arch', $arch, qw(--width 64 --heads 4 --type f32
            --untied --layers 3 --rope-base 100), @options);
        push @jobs, { model => "$dir/$arch-$name.gguf", n => $n,
            prompts => [\@long] };
    }
}
# A factor and no type: linear.
my $untyped = slurp("$dir/llama-linear.gguf");
$untyped =~ s/rope\.scaling\.type/rope.scaling.tipe/ or die;
gguf_write("$dir/llama-untyped.gguf", $untyped);
push @jobs, { model => "$dir/llama-untyped.gguf", n => $n,
    prompts => [\@long] };

open my $request, '>', "$dir/request.json" or die $!;
print {$request} encode_json(\@jobs);
close $request or die $!;
my ($status, $out, $err) = gguf_check('/bin/sh', '-c',
    "exec $node t/js/oracle-llama-cpp.mjs <$dir/request.json");
is $status, 0, 'the oracle answers' or BAIL_OUT($err);
my $answers = decode_json($out);

my %said; # of rotary models: our ids
for my $i (0 .. $#jobs) {
    my ($name) = $jobs[$i]{model} =~ m{([^/]+)\.gguf$};
    for my $j (0 .. $#{$jobs[$i]{prompts}}) {
        my ($st, $text, $why) = gguf_check($penstock, 'run', '-m',
            $jobs[$i]{model}, '--ids', join(',', @{$jobs[$i]{prompts}[$j]}),
            '-n', $n, '--temp', 0, '--json');
        my @ours = $st == 0 ? @{decode_json($text)->{ids}} : ();
        my @want = @{$answers->[$i][$j]{ids}};
        my $gaps = $answers->[$i][$j]{gaps};
        my $same = 0;

        $said{$name} = "@ours";
        $same++ while $same < @want && $same < @ours
            && $ours[$same] == $want[$same];
        # A text that ends may or may not list the token that ended it.
        my $whole = $same == @want || $same == @ours && $same == @want - 1
            && @want < $n;
        ok $st == 0 && ($whole || $gaps->[$same] < $near),
            "$name, prompt $j: " . ($whole ? 'all ' . @want . ' agree'
                : "first differs at $same, gap $gaps->[$same]")
            or diag "status $st $why\nours @ours\nllama.cpp @want";
    }
}
isnt $said{$_}, $said{s/-.*/-plain/r}, "$_: scaling matters to this prompt"
    for qw(llama-linear llama-factors qwen3-linear);
is $said{'llama-untyped'}, $said{'llama-linear'}, 'a factor without a type';
done_testing;
