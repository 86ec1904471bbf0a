# Every fuzz driver for a while under libFuzzer, Address- and UBSanitizer.
# FUZZ_SECONDS each (default 60). A crash stays in build-fuzz/NAME.crash-*.
use strict;
use warnings;
use Test::More;
use File::Path qw(make_path);

plan skip_all => 'no clang to build the fuzzers with'
    if system('clang --version >/dev/null 2>&1');
my $seconds = $ENV{FUZZ_SECONDS} // 60;
my $log = `contrib/build.sh build-fuzz CC=clang --enable-fuzz 2>&1`;
is $?, 0, 'the drivers are configured' or BAIL_OUT($log);
chomp(my @drivers = `make -s -C build-fuzz print-fuzz-tests`);
$log = `make -C build-fuzz -j2 --no-print-directory @drivers 2>&1`;
is $?, 0, 'and built' or BAIL_OUT($log);
cmp_ok scalar @drivers, '>=', 8, 'there are drivers';

for my $driver (@drivers) {
    (my $name = $driver) =~ s{.*/}{};
    my $corpus = "build-fuzz/corpus/$name";
    make_path($corpus);
    my $out = `build-fuzz/$driver -max_total_time=$seconds -timeout=20 -rss_limit_mb=4096 -artifact_prefix=build-fuzz/$name. $corpus t/fuzz/seeds/$name 2>&1`;
    is $?, 0, "$name: nothing found in $seconds s"
        or diag(substr $out, -4000);
    my ($runs) = $out =~ /^Done (\d+) runs/m;
    note "$name: " . ($runs // 'no count of') . ' runs';
}
done_testing;
