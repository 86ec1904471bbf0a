#!/usr/bin/perl
# Greedy ids and first log-probabilities of the demo model's four files agree
# with contrib/demo-model/vectors.json (made by refmodel.py, float32 numpy;
# checked there against another engine).
use strict;
use warnings;
use Test::More;
use JSON::PP;

my $build = $ENV{BUILD} // 'build';
my $dir   = 'contrib/demo-model';
my $bin   = "$build/penstock";
plan skip_all => "$bin is not built" unless -x $bin;
plan skip_all => "$dir/vectors.json is missing" unless -e "$dir/vectors.json";

# Another rounding may rightly part ways where the two best are this close.
my $gap = 0.05;
# How far log-probabilities may lie apart. The steep logits of the random
# models hide even a wrong rotation from their ids, but not from these.
my %within = ('penstock-demo-f16.gguf' => 0.02, 'penstock-demo-q8_0.gguf' => 0.10,
    'tiny-random-llama.gguf' => 0.02, 'tiny-random-qwen2.gguf' => 0.02);

sub slurp {
    my ($how, @what) = @_;
    open my $in, $how, @what or die "@what: $!\n";
    local $/;
    my $data = <$in>;
    close $in or return;
    return $data;
}

sub run_ids {
    my ($file, $prompt, $random) = @_;
    my @arg = ($bin, 'run', '-m', "$dir/$file", '--ids', join(',', @{$prompt->{ids}}),
        '-n', $random ? 24 : 48, '--top-logprobs', 5, '--json');
    push @arg, '--ignore-eos' if $random;
    my $data = slurp('-|', @arg);
    return $data && decode_json($data);
}

# Ids that agree up to the end; undef, or where they part.
sub parts {
    my ($got, $want) = @_;
    for my $i (0 .. ($#$got > $#$want ? $#$got : $#$want)) {
        return $i if ($got->[$i] // -1) != ($want->[$i] // -1);
    }
    return;
}

my $vectors = decode_json(slurp('<', "$dir/vectors.json"));
is scalar @{$vectors->{models}}, 4, 'vectors for four files';
for my $model (@{$vectors->{models}}) {
    my $file   = $model->{file};
    my $random = $file =~ /random/;
    my $n      = 0;
    for my $p (@{$model->{prompts}}) {
        my $name = "$file " . ($p->{name} // 'prompt ' . ++$n);
        my $got  = run_ids($file, $p, $random);
        ok $got, "$name runs" or next;
        is_deeply $got->{prompt_ids}, $p->{ids}, "$name: the ids it was given";
        my $at = parts($got->{ids}, $p->{greedy});
        ok !defined $at || $p->{min_gap} < $gap,
            "$name: greedy ids" . (defined $at ? " part at $at (gap $p->{min_gap})" : '');
        next unless $within{$file};
        my %l    = map { $_->{id} => $_->{logprob} } @{$got->{logprobs}[0]{top}};
        my $worst = 0;
        for my $t (@{$p->{top5}}) {
            # the fifth may change places with the sixth
            my $d = exists $l{$t->[0]} ? abs($l{$t->[0]} - $t->[1])
                : abs($got->{logprobs}[0]{top}[4]{logprob} - $t->[1]);
            $worst = $d if $d > $worst;
        }
        ok $worst <= $within{$file}, sprintf '%s: top five within %.2f (%.4f)',
            $name, $within{$file}, $worst;
    }
}
done_testing;
