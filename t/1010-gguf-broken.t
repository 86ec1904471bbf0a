#!/usr/bin/perl
# A broken GGUF file is one line of error and status 1, whatever is broken.
# Every file here is a good one with one fault; the messages must name the
# file and the fault. Also run by check.sh --asan.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use lib 't/lib';
use Pen::Gguf qw(gguf_bytes gguf_good gguf_write gguf_check u32 u64 str);

my $build = $ENV{BUILD} // 'build';
my $tool  = "$build/t/unit/gguf_open";
plan skip_all => "$tool is not built" unless -x $tool;

my $dir  = tempdir(CLEANUP => 1);
my $file = "$dir/model.gguf";
my ($good, $at) = gguf_good();
my $broken = 0;

sub opens {
    my ($name, $bytes) = @_;
    gguf_write($file, $bytes);
    my ($status, $out, $err) = gguf_check($tool, $file);
    ok $status == 0 && $err eq '', "opens: $name" or diag $status, ' ', $err;
}

sub fails {
    my ($name, $bytes, $want) = @_;
    gguf_write($file, $bytes);
    my ($status, $out, $err) = gguf_check($tool, $file);
    my $told = $status == 1 << 8 && $err =~ /\A\Q$file\E: [^\n]+\n\z/
        && $err =~ $want && $out eq '';
    ok $told, $name or diag "status $status, stderr: $err";
    $broken++;
}

# The good file with bytes from a field on replaced.
sub patch {
    my ($field, $bytes, $skip) = @_;
    die "no field $field" unless defined $at->{$field};
    my $copy = $good;
    substr($copy, $at->{$field} + ($skip // 0), length $bytes) = $bytes;
    return $copy;
}

my $big = ~0;
my $sig = 1 << 63;

opens 'the good file', $good;
opens 'version 2', patch('version', u32(2));
opens 'no tensors, no metadata', (gguf_bytes())[0];
opens 'alignment 64', (gguf_good(align => 64, kv => [
    ['general.alignment', 4, u32(64)]]))[0];

# --- truncations ---------------------------------------------------------
fails 'an empty file', '', qr/empty/;
fails "cut at $_ bytes", substr($good, 0, $_), qr/GGUF|header|ends/
    for 1, 3, 4, 7, 8, 15, 16, 23, 24;
fails "cut inside $_", substr($good, 0, $at->{$_} + 1), qr/ends/
    for qw(t.u8.type t.u64.value t.strings.key_len t.strings.value
           first.weight.n_dims first.weight.offset);
for my $percent (10, 20, 30, 40, 50, 60, 70, 80, 90) {
    my $n = int(length($good) * $percent / 100);
    fails "cut at $percent %", substr($good, 0, $n), qr/ends|bytes left|end past/;
}
fails 'cut behind the directory', substr($good, 0, $at->{dir_end}),
    qr/first\.weight.*past the file/;
fails 'the last tensor misses one byte',
    substr($good, 0, $at->{'norm.weight.data'} + 19),
    qr/'norm\.weight': 20 bytes.*past the file/;

# --- header --------------------------------------------------------------
fails 'another magic', patch('magic', 'GGUX'), qr/not a GGUF file/;
fails 'magic of the older format', patch('magic', 'ggjt'), qr/not a GGUF/;
fails 'version 0', patch('version', u32(0)), qr/version 0;/;
fails 'version 1', patch('version', u32(1)), qr/version 1;/;
fails 'version 4', patch('version', u32(4)), qr/version 4;/;
fails 'big-endian', patch('version', pack('N', 3)),
    qr/big-endian.*version 3/;
for my $n (65537, 1 << 32, $sig, $big) {
    my $text = sprintf '%u', $n;
    fails "$text tensors", patch('n_tensors', u64($n)), qr/$text tensors/;
    fails "$text keys", patch('n_kv', u64($n)), qr/$text metadata keys/;
}
fails 'one key too many', patch('n_kv', u64(16)), qr/type|key|ends/;
fails 'one tensor too many', patch('n_tensors', u64(4)), qr/tensor/;
fails '65536 tensors in a small file', patch('n_tensors', u64(65536)),
    qr/tensor/;

# --- metadata ------------------------------------------------------------
for my $n ($big, $sig, $sig - 1, 1 << 20) {
    fails "key length $n", patch('t.u8.key_len', u64($n)), qr/key 2 of 15/;
    fails "string length $n", patch('general.architecture.value', u64($n)),
        qr/'general\.architecture'/;
    fails "length $n of a string in an array",
        patch('t.strings.value', u64($n), 12), qr/'t\.strings': string 0 of 3/;
    fails "array of $n numbers", patch('t.numbers.value', u64($n), 4),
        qr/'t\.numbers'/;
    fails "array of $n strings", patch('t.strings.value', u64($n), 4),
        qr/'t\.strings'/;
}
fails 'array length that wraps times its element',
    patch('t.numbers.value', u64((1 << 62) + 1), 4), qr/'t\.numbers'/;
fails 'empty key', patch('t.u8.key_len', u64(0)), qr/key 2 of 15 \(0 bytes/;
fails 'value type 13', patch('t.u8.type', u32(13)),
    qr/'t\.u8': value type 13/;
fails 'value type 2^32-1', patch('t.u8.type', u32(0xffffffff)),
    qr/value type 4294967295/;
fails 'array in an array', patch('t.numbers.value', u32(9)),
    qr/'t\.numbers'.*array of arrays/;
fails 'array of type 13', patch('t.numbers.value', u32(13)),
    qr/element type 13/;
fails 'a bool of 2', patch('t.bool.value', "\2"), qr/'t\.bool'.* 2,/;
fails 'a bool of 255 in an array', patch('t.bools.value', "\xff", 14),
    qr/'t\.bools'.* 255,/;
fails 'newline in a key', patch('t.u8.key_len', "t\nu8", 8), qr/printable/;
fails 'NUL in a key', patch('t.u8.key_len', "t\0u8", 8), qr/printable/;
fails 'key that is not UTF-8', patch('t.u8.key_len', "t\xc0\x80x", 8),
    qr/printable/;
fails 'the same key twice', patch('t.i8.key_len', 't.u8', 8),
    qr/'t\.u8' is there twice/;

fails "alignment $_", patch('general.alignment.value', u32($_)),
    qr/'general\.alignment': must be/
    for 0, 1, 4, 24, 33, 1 << 21, 0xffffffff;
fails 'alignment as a string', (gguf_good(kv => [
    ['general.alignment', 8, str('32')]]))[0], qr/'general\.alignment'/;
fails 'part of a split model', (gguf_good(kv => [
    ['split.no', 2, pack('v', 1)], ['split.count', 2, pack('v', 3)]]))[0],
    qr/split\.count 3.*split\.no 1/;

# --- tensors -------------------------------------------------------------
fails "name length $_", patch('second.weight.name_len', u64($_)),
    qr/tensor 1 of 3/
    for 0, 65, 1 << 32, $sig, $big;
fails 'newline in a name', patch('second.weight.name_len', "s\n", 8),
    qr/tensor 1 of 3.*printable/;
fails 'name that is not UTF-8', patch('second.weight.name_len', "s\xff", 8),
    qr/tensor 1 of 3.*printable/;
fails 'the same name twice', (gguf_good(tensors => [
    map { ['a.weight', [4], 0, 'x' x 16] } 1, 2]))[0],
    qr/'a\.weight' is there twice/;
fails "$_ dimensions", patch('first.weight.n_dims', u32($_)),
    qr/'first\.weight'.*1 to 4 dimensions/
    for 0, 5, 0x80000000, 0xffffffff;
fails 'a dimension of 0', patch('first.weight.dims', u64(0), $_),
    qr/'first\.weight'.*no dimension may be 0/
    for 0, 8;
for my $n ($big, $sig, 1 << 62, 1 << 40) {
    fails "dimension $n", patch('first.weight.dims', u64($n)),
        qr/'first\.weight'.*(overflows|past the file)/;
    fails "second dimension $n", patch('first.weight.dims', u64($n), 8),
        qr/'first\.weight'.*(overflows|past the file)/;
}
fails "dimensions @$_, whose size wraps to 0",
    (gguf_good(tensors => [['a.weight', $_, 0, 'x' x 16]]))[0],
    qr/'a\.weight'.*overflows/
    for [4, 1 << 62], [4, 1 << 31, 1 << 31], [4, 1, 1 << 31, 1 << 31];
fails 'one row more than the file has', patch('norm.weight.dims', u64(9)),
    qr/'norm\.weight'.*36 bytes.*past the file/;
fails 'a row that is no whole number of blocks',
    patch('second.weight.dims', u64(33)), qr/33.*multiple of.*32.*Q8_0/;
for ([1 << 31, 'unknown'], [4, 'unknown'], [41, 'unknown'],
     [0xffffffff, 'unknown'], [9, 'Q8_1'], [16, 'IQ2_XXS'], [24, 'I8'],
     [34, 'TQ1_0']) {
    my ($type, $word) = @$_;
    fails "tensor type $type", patch('first.weight.type', u32($type)),
        qr/'first\.weight': type $type \($word\).*Q6_K/;
}
fails "offset $_", patch('second.weight.offset', u64($_)),
    qr/'second\.weight'.*offset \d+ is not a multiple/
    for 1, 31, 33, 16, $big;
fails 'offset ' . sprintf('%u', $_), patch('second.weight.offset', u64($_)),
    qr/'second\.weight': 68 bytes of data at offset \d+ end past/
    for $sig, 1 << 32, length($good) - length($good) % 32, $big - 31,
        -$at->{'first.weight.data'};
fails 'two tensors over the same bytes', patch('second.weight.offset', u64(0)),
    qr/lies inside the data/;
fails 'a tensor inside another', patch('norm.weight.offset', u64(64)),
    qr/'norm\.weight' lies inside the data of tensor 'second\.weight'/;

# --- not a file ----------------------------------------------------------
for ([$dir, 'a folder'], ["$dir/none", 'an absent file']) {
    my ($path, $name) = @$_;
    my ($status, $out, $err) = gguf_check($tool, $path);
    ok $status == 1 << 8 && $err =~ /\A\Q$path\E: [^\n]+\n\z/, $name;
}
cmp_ok $broken, '>=', 60, "$broken broken files";

# --- anything else: one bit of header or directory changed ---------------
# The architecture's name is printed, so its bytes stay as they are.
my @flipped;
my $name_at = $at->{'general.architecture.value'} + 8;
for my $i (0 .. $at->{dir_end} - 1) {
    next if $i >= $name_at && $i < $name_at + 4;
    for my $bit (0x01, 0x80) {
        my $copy = $good;
        substr($copy, $i, 1) ^= chr $bit;
        push @flipped, "$dir/flip-$i-$bit";
        gguf_write($flipped[-1], $copy);
    }
}
my ($status, $out, $err) = gguf_check($tool, @flipped);
ok $status == 0 || $status == 1 << 8, 'a flipped bit crashes nothing'
    or diag "status $status";
is scalar(() = "$out$err" =~ /^(?:arch=|\Q$dir\E\/flip-)[^\n]+$/mg),
    scalar @flipped, 'and is a good file or one line of error';
is scalar(() = "$out$err" =~ /\n/g), scalar @flipped, 'and nothing else';
done_testing;
