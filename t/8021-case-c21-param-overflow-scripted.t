# C21 (CVE-2025-23016): hostile records close their own connection, nothing
# else. Debian 12's libfcgi 2.4.2-2+deb12u1 and upstream 2.4.5 are fixed.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time);
use Pen::Daemon;

my $d = Pen::Daemon->scripted(args => { handlers => 2 });
my $begin = pack 'H*', '01010001000800000001000000000000';
my %bad = (
    'lengths that wrap' => $begin . pack('H*', '0104000100080000ffffffffffffffff'),
    'a name longer than the record' =>
        $begin . pack('H*', '0104000100020000') . "\x7f\x7f"
        . pack('H*', '0104000100000000'),
    'an unknown version' => "\x02" . 'x' x 15,
    'plain HTTP' => "GET / HTTP/1.0\r\n\r\n",
    'params before begin' => pack('H*', '0104000100000000'),
    'stdin before params' => $begin . pack('H*', '0105000100000000'),
    'a begin of the wrong size' => pack('H*', '0101000100040000') . 'abcd',
    'half a header' => "\x01\x01\x00",
);
for my $name (sort keys %bad) {
    my $t = time;
    for (1 .. 5) {
        my $f = Pen::Fcgi->connect($d->{socket});
        $f->raw($bad{$name});
        shutdown $f->{s}, 1;
        my $rec;
        1 while $rec = $f->next_record(5);
        is $rec, 0, "$name: closed" if $_ == 1;
    }
    cmp_ok time - $t, '<', 4, "$name: soon";
    is $d->health->{status}, 'ok', "$name: alive";
}

# Random bytes after a good start; the seed is printed with a failure.
my $seed = $ENV{SEED} // time;
srand $seed;
for (1 .. 200) {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->raw($begin . join '', map {
        pack 'CCnnCC', 1, int rand 12, 1, int rand 40, int rand 9, 0
    } 1 .. 5);
    $f->raw(join '', map { chr int rand 256 } 1 .. 200);
    $f->close;
}
is $d->health->{status}, 'ok', 'alive' or diag "SEED=$seed";
is $d->stop, 0, 'the daemon ends well';
done_testing;
