#!/usr/bin/perl
# One text: a request's tokens depend on the request alone, not on threads, on
# how its prompt was cut or on the kernels. (t/unit/engine_sched has the
# neighbours.)
use strict;
use warnings;
use Test::More;
use JSON::PP;

my $build = $ENV{BUILD} // 'build';
my $dir   = 'contrib/demo-model';
my $bin   = "$build/penstock";
plan skip_all => "$bin is not built" unless -x $bin;

my $text = "<|im_start|>user\nTell me a long story about a fox named Ida.<|im_end|>\n<|im_start|>assistant\n";

# ids and log-probabilities, as printed: every digit counts
sub answer {
    my (@arg) = @_;
    my @cmd = ($bin, 'run', '-p', $text x 4, '-n', 40, '--top-logprobs', 3, '--json',
        '--ignore-eos', @arg);
    open my $in, '-|', @cmd or die "$bin: $!\n";
    local $/;
    my $json = decode_json(<$in>);
    close $in or return 'failed';
    return JSON::PP->new->canonical->encode([@$json{qw(ids logprobs text)}]);
}

my @sets = ('ref');
for my $set (qw(avx2 avx512 neon)) {
    my $tiny = "$dir/tiny-random-llama.gguf";
    push @sets, $set
        unless system "$bin run -m $tiny --ids 5 -n 1 --kernels $set >/dev/null 2>&1";
}
diag "sets on this machine: @sets";

my %of; # file and how -> what the first set said
for my $file ('penstock-demo-q8_0.gguf', 'tiny-random-qwen2.gguf') {
    for my $set (@sets) {
        for my $how (['--temp', 0], ['--temp', 1, '--top-k', 40, '--seed', 11]) {
            next if $set eq 'ref' && $file =~ /demo/ && $how->[1];
            my @base = ('-m', "$dir/$file", '--kernels', $set, @$how);
            my $want = answer(@base, '-t', 1);
            isnt $want, 'failed', "$file $set @$how";
            is $want, $of{"$file @$how"} //= $want, '  every set says the same';
            is answer(@base, '-t', $_), $want, "  $_ threads"      for 2, 3;
            is answer(@base, '--chunk', $_), $want, "  slices of $_" for 1, 7, 64;
        }
    }
}
# The cache in 8 bits: one text of its own, near the other.
{
    my @base = ('-m', "$dir/penstock-demo-q8_0.gguf", '--kv-type', 'q8_0');
    my $want = answer(@base, '-t', 1);
    my (%said, @first);

    isnt $want, 'failed', '--kv-type q8_0';
    is answer(@base, '-t', $_), $want, "  $_ threads"      for 2, 3;
    is answer(@base, '--chunk', $_), $want, "  slices of $_" for 1, 7, 64;
    for ('f16', 'q8_0') {
        my $json = decode_json(scalar qx{$bin run -m $base[1] --kv-type $_ --json -n 1 --top-logprobs 1 -p "$text"});
        $said{$json->{fingerprint}} = 1;
        push @first, $json->{logprobs}[0];
    }
    is keys %said, 2, '  another fingerprint';
    isnt encode_json($first[0]), encode_json($first[1]), '  other bits';
}
isnt answer('-m', "$dir/penstock-demo-q8_0.gguf", '--temp', 1, '--seed', 1),
    answer('-m', "$dir/penstock-demo-q8_0.gguf", '--temp', 1, '--seed', 2), 'another seed, another text';
done_testing;
