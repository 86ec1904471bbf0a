# A body that fits only when the prefix tree gives pages back: refused before
# it is read, and there is room for it when the client tries again, also when
# nobody else asks anything meanwhile.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;
use Time::HiRes qw(sleep time);

plan skip_all => 'sanitizers use memory of their own'
    if $ENV{PENSTOCK_SANITIZER};
need_demo;
my $mib = 1 << 20;

sub memory {
    my $r = Pen::Fcgi->request($_[0]{socket});
    return JSON::PP::decode_json($r->{body})->{memory};
}

sub ids {
    my $i = shift;
    return [ map { 300 + ($_ * 7 + $i * 13) % 1000 } 1 .. 900 ];
}

my %args = (parallel => 8, 'kv-memory' => '48m', handlers => 2,
    'mem-slack' => '1m');
my $d = Pen::Daemon->start(args => \%args);
whole(text($d, prompt => ids(0), max_tokens => 2));
my $base = memory($d)->{held};
$d->stop;

my $peak = $base + 50 * $mib;
$d = Pen::Daemon->start(args => { %args, 'mem-peak' => $peak });
my $n = 0;
whole(text($d, prompt => ids($n), max_tokens => 2))
    while memory($d)->{classes}{prefix} < 30 * $mib && $n++ < 40;
cmp_ok memory($d)->{classes}{prefix}, '>=', 30 * $mib, 'the tree is full';

my $body = '{"prompt":"Hi","max_tokens":2' . ' ' x $mib . '}';
my @status;
my $end = time + 30;
while (($status[-1] // 0) != 200 && time < $end) {
    sleep 0.5 if @status;
    push @status, Pen::Fcgi->request($d->{socket}, timeout => 60,
        uri => '/v1/completions', body => $body)->{status};
}
is $status[0], 503, 'a large body is refused';
is $status[-1], 200, 'and served when it comes again';
diag "@status";
cmp_ok memory($d)->{classes}{prefix}, '<', 30 * $mib, 'in place of a cache';
is $d->stop, 0, 'the daemon ends well';
done_testing;
