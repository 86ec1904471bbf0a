# The engine needs a C compiler and nothing else: no configure, no library but
# libc, libm and pthread. The same goes for arm64, where the NEON kernels must
# give the bits of the portable ones: cross-built and run by an emulator.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);
use JSON::PP;

my $cc = $ENV{CC} // 'cc';
plan skip_all => "no $cc" if system("$cc --version >/dev/null 2>&1");

my @c = grep { !m{/(crypt|x86_\w+|arm_\w+)\.c$} } map { glob "$_/*.c" }
    qw(src/base src/gguf src/gen src/kv src/engine kernels/cpu);
our $flags = '-std=gnu11 -D_GNU_SOURCE -O1 -Wall -Wextra -Werror '
    . '-fno-math-errno -ffp-contract=off -Isrc -I. '
    . q{-DPACKAGE_VERSION='"0"'};

my $avx512 = '-mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512vnni -mfma '
    . '-mf16c';
my %set_flags = (avx2 => '-mavx2 -mfma -mf16c', avx512 => $avx512,
    amx => "$avx512 -mamx-tile -mamx-int8",
    neon => '-march=armv8.2-a+dotprod');

# Compile files, two at a time; returns the objects.
sub objects {
    my ($dir, $cc, @file) = @_;
    my %job;
    my $reap = sub {
        my $file = delete $job{ +wait };
        is $?, 0, "$cc $file" if $?;
        return !$?;
    };
    my ($ok, @o) = 1;
    for my $file (@file) {
        my $more = $file =~ m{_(avx2|avx512|amx|neon)\.c$}
            ? $set_flags{$1} : '';
        push @o, "$dir/" . $file =~ s{[/.]}{_}gr . '.o';
        $ok &= $reap->() if keys %job == 2;
        my $pid = fork // die "fork: $!";
        exec "$cc $flags $more -c $file -o $o[-1]" unless $pid;
        $job{$pid} = $file;
    }
    $ok &= $reap->() while %job;
    ok $ok, "$cc compiles " . @file . ' files of the engine';
    return @o;
}

sub wanted {
    open my $in, '<', 'contrib/demo-model/vectors.json' or die $!;
    local $/;
    my $all = decode_json(<$in>);
    my ($file) = grep { $_->{file} eq 'penstock-demo-q8_0.gguf' } @{$all->{models}};
    my ($p) = grep { $_->{name} eq 'hello' } @{$file->{prompts}};
    return join ',', @{$p->{greedy}}[0 .. 7];
}

sub check {
    my ($cc, $run, $static) = @_;
    my $dir = tempdir(CLEANUP => 1);
    my $x86 = `$cc -dumpmachine` =~ /^x86_64/;
    my $arm = `$cc -dumpmachine` =~ /^aarch64/;
    local $flags = "$flags -DHAVE_X86_64" if $x86;
    local $flags = "$flags -DHAVE_AARCH64" if $arm;
    my @o = objects($dir, $cc, @c,
        $x86 ? glob('kernels/cpu/x86_*.c') : (),
        $arm ? glob('kernels/cpu/arm_*.c') : ());
    my @unit = qw(kernels_ops kernels_quant);
    push @unit, qw(kernels_attend kernels_float kernels_onetext kernels_pack
        kernels_pool kernels_product kernels_row) if $arm;
    for my $main ('t/lib/alone.c', map { "t/unit/$_.c" } @unit) {
        my ($name) = $main =~ m{(\w+)\.c$};
        is system("$cc $flags $static -o $dir/$name $main t/lib/model.c @o "
            . '-lm -lpthread'), 0, "$name links";
        next if $name eq 'alone';
        my $few = $run && $name =~ /float|product/ ? 'few' : '';
        my $out = `$run $dir/$name $few 2>&1`;
        ok $? == 0 && $out !~ /^not ok/m, "$name passes" or diag $out;
        like $out, qr/neon/, "$name has NEON" if $main =~ /float|onetext|product|row/
            && $arm && $run;
    }
    my $wanted = wanted();
    for my $set ('portable', $x86 || $arm ? 'best' : ()) {
        my $out = `$run $dir/alone $set 2>&1`;
        chomp $out;
        is $out, $wanted, "the demo model's ids with the $set kernels";
    }
}

check($cc, '', '');
SKIP: {
    my $arm = 'aarch64-linux-gnu-gcc';
    skip 'this is an arm64 machine', 1 if `$cc -dumpmachine` =~ /^aarch64/;
    skip "no $arm", 1 if system("$arm --version >/dev/null 2>&1");
    my ($emulator) = grep { !system("$_ --version >/dev/null 2>&1") }
        qw(qemu-aarch64-static qemu-aarch64);
    skip 'no qemu-aarch64', 1 unless $emulator;
    check($arm, $emulator, '-static');
}
done_testing;
