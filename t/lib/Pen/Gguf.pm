package Pen::Gguf;

# Small GGUF files for tests, and where each of their fields lies, so that a
# test can break one field and nothing else. Source of the layout: ggml
# docs/gguf.md. Needs a Perl with 64-bit integers.
use strict;
use warnings;
use Exporter 'import';
use File::Temp ();
our @EXPORT_OK = qw(gguf_bytes gguf_good gguf_write gguf_check u32 u64 str);

sub u32 { pack 'V', $_[0] }
sub u64 { pack 'Q<', $_[0] }
sub str { my $s = shift; u64(length $s) . $s }

# gguf_bytes(version => 3, kv => [[key, type, bytes]...],
#            tensors => [[name, [dims], type, data]...], align => 32)
# Returns the bytes and a table: name of a field -> its offset. Fields are
# magic version n_tensors n_kv, KEY.key_len KEY.type KEY.value,
# NAME.name_len NAME.n_dims NAME.dims NAME.type NAME.offset NAME.data, dir_end.
sub gguf_bytes {
    my %o = (version => 3, align => 32, kv => [], tensors => [], @_);
    my %at = (magic => 0, version => 4, n_tensors => 8, n_kv => 16);
    my $b = 'GGUF' . u32($o{version}) . u64(scalar @{$o{tensors}})
        . u64(scalar @{$o{kv}});
    my $offset = 0;

    for (@{$o{kv}}) {
        my ($key, $type, $value) = @$_;
        $at{"$key.key_len"} = length $b;
        $b .= str($key);
        $at{"$key.type"} = length $b;
        $b .= u32($type);
        $at{"$key.value"} = length $b;
        $b .= $value;
    }
    for (@{$o{tensors}}) {
        my ($name, $dims, $type, $data) = @$_;
        $at{"$name.name_len"} = length $b;
        $b .= str($name);
        $at{"$name.n_dims"} = length $b;
        $b .= u32(scalar @$dims);
        $at{"$name.dims"} = length $b;
        $b .= join '', map { u64($_) } @$dims;
        $at{"$name.type"} = length $b;
        $b .= u32($type);
        $at{"$name.offset"} = length $b;
        $b .= u64($offset);
        $offset += length($data) + -length($data) % $o{align};
    }
    $at{dir_end} = length $b;
    $b .= "\0" x (-length($b) % $o{align});
    for (@{$o{tensors}}) {
        my ($name, $data) = @$_[0, 3];
        $at{"$name.data"} = length $b;
        $b .= $data . "\0" x (-length($data) % $o{align});
    }
    return ($b, \%at);
}

# A file with one value of every metadata type and three tensors.
sub gguf_good {
    my %o = @_;
    return gguf_bytes(
        kv => [
            ['general.architecture', 8,  str('tiny')],
            ['general.alignment',    4,  u32(32)],
            ['t.u8',                 0,  "\x01"],
            ['t.i8',                 1,  "\xff"],
            ['t.u16',                2,  pack('v', 7)],
            ['t.i16',                3,  pack('v', 0xfffe)],
            ['t.i32',                5,  u32(0xfffffffd)],
            ['t.f32',                6,  pack('f<', 1.5)],
            ['t.bool',               7,  "\x01"],
            ['t.u64',                10, u64(1 << 40)],
            ['t.i64',                11, u64(-5)],
            ['t.f64',                12, pack('d<', 2.5)],
            ['t.strings', 9, u32(8) . u64(3) . str('a') . str('') . str('ccc')],
            ['t.numbers', 9, u32(5) . u64(4) . pack('V4', 1 .. 4)],
            ['t.bools',   9, u32(7) . u64(3) . "\0\1\0"],
        ],
        tensors => [
            ['first.weight',  [4, 2],  0, 'F' x 32],
            ['second.weight', [32, 2], 8, 'Q' x 68],
            ['norm.weight',   [5],     0, 'N' x 20],
        ],
        %o,
    );
}

sub gguf_write {
    my ($path, $bytes) = @_;

    open my $out, '>:raw', $path or die "$path: $!\n";
    print {$out} $bytes;
    close $out or die "$path: $!\n";
}

# Run COMMAND... with its output caught: (wait status, stdout, stderr).
sub gguf_check {
    my @command = @_;
    my ($out, $err) = (File::Temp->new, File::Temp->new);
    my $pid = fork // die "fork: $!\n";

    if (!$pid) {
        open STDOUT, '>&', $out or die;
        open STDERR, '>&', $err or die;
        exec @command or exit 127;
    }
    waitpid $pid, 0;
    my $status = $?;
    local $/;
    seek $_, 0, 0 for $out, $err;
    return ($status, scalar readline($out) // '', scalar readline($err) // '');
}

1;
