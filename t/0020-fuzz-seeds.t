# Every fuzz driver survives its seeds and every input that once broke it.
use strict;
use warnings;
use Test::More;

my $build = $ENV{BUILD} // 'build';
my @sources = grep { $_ ne 't/fuzz/main.c' } glob 't/fuzz/*.c';

for my $source (@sources) {
    my ($name) = $source =~ m{([^/]+)\.c$};
    my $driver = "$build/t/fuzz/$name";
    my @inputs = (glob("t/fuzz/seeds/$name/*"), glob("t/data/crash/$name/*"));

    SKIP: {
        skip "$driver is not built (make check builds it)", 1
            unless -x $driver;
        ok @inputs && system($driver, @inputs) == 0,
            "$name: " . @inputs . ' inputs';
    }
}
done_testing;
