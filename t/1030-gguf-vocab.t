#!/usr/bin/perl
# Tokenizer metadata of GGUF files: what is assumed when a file does not say,
# and that broken or unknown metadata is one line that names the key.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use lib 't/lib';
use Pen::Gguf qw(gguf_bytes gguf_write gguf_check u32 u64 str);

my $build = $ENV{BUILD} // 'build';
my $tool  = "$build/t/unit/chat_vocab_open";
plan skip_all => "$tool is not built" unless -x $tool;
my $file = tempdir(CLEANUP => 1) . '/v.gguf';

sub strs { u32(8) . u64(scalar @_) . join '', map { str($_) } @_ }
sub i32s { u32(5) . u64(scalar @_) . pack 'l<*', @_ }
sub f32s { u32(6) . u64(scalar @_) . pack 'f<*', @_ }

# GPT-2's spelling of the 256 bytes
my @bytes;
{
    my $next = 256;
    for my $b (0 .. 255) {
        my $plain = $b >= 33 && $b <= 126 || $b >= 161 && $b != 173;
        my $c = chr($plain ? $b : $next++);
        utf8::encode($c);
        push @bytes, $c;
    }
}
my @names = qw(<|im_end|> <|endoftext|> <|eot_id|> <s>);
my %bpe = (
    model  => [8, str('gpt2')],
    pre    => [8, str('qwen2')],
    tokens => [9, strs(@bytes, 'ab', @names)],   # 256 ab, 257 .. 260
    token_type => [9, i32s((1) x 257, 3, 1, 3, 3)],
    merges => [9, strs('a b')],
    eos_token_id => [4, u32(257)],
);
my @spm = ('<unk>', '<s>', '</s>', (map { sprintf '<0x%02X>', $_ } 0 .. 255),
    "\xe2\x96\x81", 'a');
my %spm = (
    model  => [8, str('llama')],
    tokens => [9, strs(@spm)],
    scores => [9, f32s((0) x 259, -1, -2)],
    token_type => [9, i32s(2, 3, 3, (6) x 256, 1, 1)],
    bos_token_id => [4, u32(1)],
    eos_token_id => [4, u32(2)],
    unknown_token_id => [4, u32(0)],
);

sub run_with {
    my ($base, %change) = @_;
    my %all = (%$base, %change);
    my ($bytes) = gguf_bytes(kv => [map { ["tokenizer.ggml.$_", @{$all{$_}}] }
        grep { $all{$_} } sort keys %all]);
    gguf_write($file, $bytes);
    return gguf_check($tool, $file);
}

sub opens {
    my ($name, $want, $base, @change) = @_;
    my ($status, $out, $err) = run_with($base, @change);
    ok $status == 0 && $out =~ $want, $name or diag "$status $out $err";
}

sub fails {
    my ($name, $want, $base, @change) = @_;
    my ($status, $out, $err) = run_with($base, @change);
    ok $status == 1 << 8 && $out eq '' && $err =~ /\A[^\n]+\n\z/
        && $err =~ $want, $name or diag "$status $out $err";
}

# --- what a file does not say -------------------------------------------
# 258 is called <|endoftext|> but is an ordinary token: it ends nothing.
opens 'BPE', qr/tokens=261 bos=-1 eos=257 add_bos=0 strips=0 stop=257,259$/,
    \%bpe;
opens 'BPE with a BOS that nobody asked for', qr/bos=260 .*add_bos=0/, \%bpe,
    bos_token_id => [4, u32(260)];
opens 'llama-bpe begins with it', qr/bos=260 .*add_bos=1/, \%bpe,
    bos_token_id => [4, u32(260)], pre => [8, str('llama-bpe')];
opens 'unless the file says no', qr/bos=260 .*add_bos=0/, \%bpe,
    bos_token_id => [4, u32(260)], pre => [8, str('llama-bpe')],
    add_bos_token => [7, "\0"];
opens 'without BOS none is added', qr/bos=-1 .*add_bos=0/, \%bpe,
    pre => [8, str('llama-bpe')], add_bos_token => [7, "\1"];
opens 'eot and eom also end', qr/stop=257,5,6,259$/, \%bpe,
    eot_token_id => [4, u32(5)], eom_token_id => [10, u64(6)];
opens "pre-tokenizer $_", qr/tokens=261/, \%bpe, pre => [8, str($_)]
    for qw(default gpt-2 llama-bpe llama3 qwen2 deepseek-r1-qwen);
opens 'no pre-tokenizer', qr/tokens=261/, \%bpe, pre => undef;
opens 'no token types', qr/stop=257$/, \%bpe, token_type => undef;
opens 'SPM', qr/tokens=261 bos=1 eos=2 add_bos=1 strips=1 stop=2$/, \%spm;
opens 'SPM without space prefix', qr/strips=0/, \%spm,
    add_space_prefix => [7, "\0"];
opens 'SPM without BOS', qr/add_bos=0/, \%spm, add_bos_token => [7, "\0"];

# --- faults --------------------------------------------------------------
fails 'no tokenizer', qr/ggml\.model: .*'gpt2'/, {};
fails 'model of another type', qr/ggml\.model: /, \%bpe, model => [4, u32(1)];
fails 'model t5', qr/ggml\.model: .*'t5'.*'gpt2'.*'llama'/, \%bpe,
    model => [8, str('t5')];
fails 'pre-tokenizer tekken', qr/ggml\.pre: .*'tekken'.*llama-bpe/, \%bpe,
    pre => [8, str('tekken')];
fails 'pre-tokenizer as a number', qr/ggml\.pre: /, \%bpe, pre => [4, u32(1)];
fails 'no tokens', qr/ggml\.tokens: /, \%bpe, tokens => undef;
fails 'tokens as numbers', qr/ggml\.tokens: /, \%bpe, tokens => [9, i32s(1)];
fails 'an empty list of tokens', qr/ggml\.tokens: /, \%bpe,
    tokens => [9, strs()];
fails 'no merges', qr/ggml\.merges: /, \%bpe, merges => undef;
fails 'a merge that is no pair', qr/./, \%bpe, merges => [9, strs('ab')];
opens 'a merge that can never happen', qr/tokens=261/, \%bpe, merges => [9, strs('zq zz')];
fails 'too few types', qr/token_type: .*261/, \%bpe,
    token_type => [9, i32s((1) x 260)];
fails 'too many types', qr/token_type: .*261/, \%bpe,
    token_type => [9, i32s((1) x 262)];
fails "token type $_", qr/token_type: token 0 has type $_/, \%bpe,
    token_type => [9, i32s($_, (1) x 260)] for -1, 7, 2147483647;
fails 'types as strings', qr/token_type: /, \%bpe, token_type => [9, strs('1')];
fails 'no scores', qr/ggml\.scores: /, \%spm, scores => undef;
fails 'too few scores', qr/ggml\.scores: .*261/, \%spm,
    scores => [9, f32s((0) x 260)];
fails "a score of $_", qr/ggml\.scores: .*token 3 /, \%spm,
    scores => [9, f32s(0, 0, 0, $_ eq 'nan' ? 'nan' : $_, (0) x 257)]
    for 'nan', 9**9**9, -9**9**9;
for my $key (qw(bos eos unknown padding eot eom fim_pad)) {
    my $name = "${key}_token_id";
    fails "$name past the end", qr/$name: .*0 to 260/, \%bpe,
        $name => [4, u32(261)];
}
fails 'a negative id', qr/eos_token_id: /, \%bpe,
    eos_token_id => [5, u32(0xffffffff)];
fails 'a huge id', qr/eos_token_id: /, \%bpe, eos_token_id => [10, u64(~0)];
fails 'an id as a string', qr/eos_token_id: /, \%bpe,
    eos_token_id => [8, str('257')];
fails "$_ as a number", qr/$_: must be true or false/, \%spm, $_ => [4, u32(1)]
    for qw(add_bos_token add_space_prefix);
done_testing;
