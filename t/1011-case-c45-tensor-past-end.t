#!/usr/bin/perl
# C45: tensor data past the end of the file. The load fails before a weight
# is used: status not 0, one line with file, tensor and numbers, no crash.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use lib 't/lib';
use Pen::Gguf qw(gguf_good gguf_write gguf_check u64);

my $build = $ENV{BUILD} // 'build';
my $tool  = "$build/t/unit/gguf_open";
plan skip_all => "$tool is not built" unless -x $tool;

my $file = tempdir(CLEANUP => 1) . '/c45.gguf';
my ($good, $at) = gguf_good(tensors => [
    ['blk.0.w', [4, 1, 1, 1], 0, 'w' x 16],
    ['blk.1.w', [64, 8],      0, 'v' x 2048],
]);

sub patch {
    my ($field, $bytes) = @_;
    my $copy = $good;
    substr($copy, $at->{$field}, length $bytes) = $bytes;
    return $copy;
}

# magic, cut at 60 %, offsets, sizes that wrap: as in the case
my @input = (
    ['cut at 60 %', substr($good, 0, int(0.6 * length $good)),
        qr/'blk\.1\.w': 2048 bytes of data at offset 32.*\d+ bytes/],
    ['offset 2^63', patch('blk.1.w.offset', u64(1 << 63)),
        qr/'blk\.1\.w'.*9223372036854775808/],
    ['offset that wraps back into the file',
        patch('blk.1.w.offset', u64(-$at->{'blk.0.w.data'})),
        qr/'blk\.1\.w'.*184467440737\d+/],
    ['size that wraps to 2^64 - 16',
        patch('blk.0.w.dims', join '', map { u64($_) }
            4, 1073741823, 1073741825, 1),
        qr/'blk\.0\.w'.*18446744073709551600/],
    ['magic GGUX', patch('magic', 'GGUX'), qr/not a GGUF/],
    ['empty file', '', qr/empty/],
);
my @command = ([$tool]);
push @command, ["$build/penstock", 'run', '--ids', '1', '-n', '1', '-m']
    if -x "$build/penstock" && `$build/penstock --help` =~ /^  run\b/m;

for my $command (@command) {
    for (@input) {
        my ($name, $bytes, $want) = @$_;
        gguf_write($file, $bytes);
        my ($status, $out, $err) = gguf_check(@$command, $file);
        ok $status == 1 << 8 && $out eq '' && $err =~ /\A[^\n]+\n\z/
            && $err =~ /\Q$file\E/ && $err =~ $want,
            "$name ($command->[0])" or diag "status $status, stderr: $err";
    }
}
done_testing;
