#!/usr/bin/perl
# A file whose numbers or tensors do not make a model is refused by name and
# with status 1; nothing is computed from it.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use lib 't/lib';
use Pen::Gguf qw(gguf_bytes gguf_write str);

my $build = $ENV{BUILD} // 'build';
my $good  = 'contrib/demo-model/tiny-random-llama.gguf';
my $bin   = "$build/penstock";
plan skip_all => "$bin is not built" unless -x $bin;

my $tmp = tempdir(CLEANUP => 1);
open my $in, '<:raw', $good or die "$good: $!\n";
my $bytes = do { local $/; <$in> };
close $in;

# The value of a 4-byte metadata entry: key, type, value.
sub set {
    my ($key, $value) = @_;
    return sub { $_[0] =~ s/(\Q$key\E....)..../$1$value/s };
}
sub u32 { set($_[0], pack 'V', $_[1]) }
sub f32 { set($_[0], pack 'f<', $_[1]) }
sub rename_to {
    my ($from, $to) = @_;
    return sub { $_[0] =~ s/\Q$from\E/$to/ };
}

my @cases = (
    [rename_to('blk.0.attn_q.weight', 'blk.0.attn_x.weight'), qr/blk\.0\.attn_q\.weight: the tensor is missing/],
    [rename_to('output_norm.weight', 'output_nerm.weight'), qr/output_norm\.weight: the tensor is missing/],
    [rename_to('token_embd.weight', 'tokan_embd.weight'), qr/token_embd\.weight: the tensor is missing/],
    [rename_to('llama.block_count', 'llama.black_count'), qr/llama\.block_count: the key is missing/],
    [u32('llama.block_count', 0), qr/block_count: 0 is not from 1/],
    [u32('llama.block_count', 1025), qr/block_count: 1025/],
    [u32('llama.block_count', 1000), qr/blk\.\d+\.\S+: the tensor is missing/],
    [u32('llama.block_count', 1), qr/blk\.1\.\S+: architecture llama has no tensor/],
    [u32('llama.embedding_length', 0), qr/embedding_length: 0/],
    [u32('llama.embedding_length', 96), qr/: the shape is/],
    [u32('llama.embedding_length', 0xffffffff), qr/embedding_length: 4294967295/],
    [u32('llama.feed_forward_length', 32), qr/ffn_\w+\.weight: the shape is/],
    [u32('llama.attention.head_count', 0), qr/head_count: 0/],
    [u32('llama.attention.head_count', 1 << 31), qr/head_count: 2147483648/],
    [u32('llama.attention.head_count_kv', 3), qr/head_count_kv: /],
    [u32('llama.context_length', 0), qr/context_length: 0/],
    [f32('llama.attention.layer_norm_rms_epsilon', -1), qr/rms_epsilon: a number over 0/],
    [f32('llama.attention.layer_norm_rms_epsilon', 'nan'), qr/rms_epsilon: a number over 0/],
    [f32('llama.rope.freq_base', 0), qr/freq_base: a number over 0/],
);
my $n = 0;
for my $case (@cases) {
    my ($change, $want) = @$case;
    my $copy = $bytes;
    my $file = "$tmp/" . ++$n . '.gguf';
    ok $change->($copy), "case $n changes the file" or next;
    open my $out, '>:raw', $file or die "$file: $!\n";
    print $out $copy;
    close $out;
    my $said = `$bin run -m $file --ids 5 -n 1 2>&1`;
    is $? >> 8, 1, "case $n: status 1";
    like $said, $want, '  and the reason';
    unlink $file;
}

# How positions are scaled, in a file that goes no further than that: the
# tensors before the layers, and no layer.
my @shape = (block_count => 1, embedding_length => 8, feed_forward_length => 8,
    context_length => 64, 'attention.head_count' => 2);
sub scaled {
    my (@more) = @_; # [key, type, value] and tensors
    my @kv = (['general.architecture', 8, str('llama')],
        ['llama.attention.layer_norm_rms_epsilon', 6, pack('f<', 1e-5)],
        grep { @$_ == 3 } @more);
    for (my $i = 0; $i < @shape; $i += 2) {
        push @kv, ["llama.$shape[$i]", 4, pack('V', $shape[$i + 1])];
    }
    my ($b) = gguf_bytes(kv => \@kv, tensors => [
        ['token_embd.weight', [8, 4], 0, "\0" x 128],
        ['output_norm.weight', [8], 0, "\0" x 32], grep { @$_ == 4 } @more]);
    gguf_write("$tmp/scaled.gguf", $b);
    return scalar `$bin run -m $tmp/scaled.gguf --ids 1 -n 1 2>&1`;
}
my $type   = 'llama.rope.scaling.type';
my $factor = 'llama.rope.scaling.factor';
sub freqs { ['rope_freqs.weight', [scalar @_], 0, pack 'f<*', @_] }

like scaled(['llama.attention.causal', 7, pack 'C', 0]), qr/llama\.attention\.causal: false/,
    'a model that only embeds text is refused';
my $next = qr/blk\.0\.attn_norm\.weight: the tensor is missing/;
like scaled(), $next, 'no scaling is accepted';
like scaled([$type, 8, str('none')]), $next, 'as is none';
like scaled([$type, 8, str('linear')], [$factor, 6, pack 'f<', 2]), $next, 'and linear';
like scaled(freqs(1, 8)), $next, 'and factors, one for each frequency';
like scaled([$type, 8, str('yarn')], [$factor, 6, pack 'f<', 2]), $next, 'and yarn';
like scaled([$type, 8, str('longrope')], [$factor, 6, pack 'f<', 2]),
    qr/\Q$type\E: only 'none', 'linear' and 'yarn' are supported/, 'longrope is not';
like scaled([$type, 8, str('yarn')], ["llama.rope.scaling.$_->[0]", 6, pack 'f<', $_->[1]]),
    qr/rope\.scaling\.$_->[0]: $_->[2]/, "yarn with a $_->[0] of $_->[1]"
    for ['yarn_beta_fast', 0, 'a number over 0'], ['yarn_ext_factor', -1, 'a number from 0 on'],
        ['attn_factor', -1, 'a number over 0'];
like scaled([$type, 8, str('yarn')], ['llama.rope.scaling.original_context_length', 4, pack 'V', 0]),
    qr/original_context_length: 0 is not from 1/, 'yarn with no original context';
like scaled([$type, 4, pack 'V', 1]), qr/\Q$type\E: a string is expected/, 'nor is a number';
like scaled([$factor, 6, pack 'f<', 0]), qr/\Q$factor\E: a number over 0/, 'a factor of 0';
like scaled([$factor, 6, pack 'f<', 'inf']), qr/\Q$factor\E: a number over 0/, 'an infinite one';
like scaled(freqs(1, 8, 8)), qr/rope_freqs\.weight: the shape is/, 'factors for another size';
like scaled(freqs(1, 0)), qr/rope_freqs\.weight: factor 1 is not over 0/, 'a factor of 0 among them';

# A context beyond the default budget for keys and values (1 GiB).
my $large = $bytes;
u32('llama.context_length', 1 << 24)->($large);
gguf_write("$tmp/large.gguf", $large);
system("$bin run -m $tmp/large.gguf --ids 5 -n 1 >/dev/null");
is $?, 0, 'one that the file names is cut to the budget';
system("$bin run -m $tmp/large.gguf --ids 5 -n 1 --context 5000000 >/dev/null");
is $?, 0, 'one that was asked for is kept';

my $said = `$bin run -m $good --ids 5 -n 1 --backend cuda 2>&1`;
is $? >> 8, 2, 'a backend that is not built is a usage error';
like $said, qr/no CUDA/, '  that says so';
done_testing;
