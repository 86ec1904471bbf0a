# Many connections: 500 streams at once, too few descriptors, a full table.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use IO::Select;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;

my $chat = '/v1/chat/completions';
my $body = Pen::Http::json(Pen::Http::chat(20));

sub streams { # n streams side by side, read together; how many are whole
    my ($d, $n, $seconds) = @_;
    my (%by, %out);
    for (1 .. $n) {
        my $f = Pen::Fcgi->connect($d->{socket}) or next;
        $f->send_request(uri => $chat, body => $body);
        $by{ $f->{s} } = $f;
        $out{ $f->{s} } = '';
    }
    my $end = time + $seconds;
    my $sel = IO::Select->new(map { $_->{s} } values %by);
    my $whole = 0;
    while ($sel->count && time < $end) {
        for my $s ($sel->can_read(1)) {
            my $k = sysread $s, $out{$s}, 65536, length $out{$s};
            next if $k;
            $sel->remove($s);
            $whole++ if $out{$s} =~ /data: \[DONE\]/;
        }
    }
    return $whole;
}

my $d = Pen::Daemon->scripted(
    args => { thinking => 'off', parallel => 256, 'max-queue' => 1000 },
    env => { PENSTOCK_GAP_US => 50_000, PENSTOCK_SCRIPT_LOOP => 1 });
my $before = $d->proc('VmRSS');
is streams($d, 500, 60), 500, '500 streams, each whole';
cmp_ok $d->proc('Threads'), '<', 16, 'and few threads';
SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    cmp_ok +($d->proc('VmRSS') - $before) / 500, '<', 100,
        'under 100 KB a stream';
}
is $d->stop, 0, 'ends well';

# What a stream's body took is given back when its generation begins.
$d = Pen::Daemon->scripted(args => { thinking => 'off' },
    env => { PENSTOCK_GAP_US => 50_000, PENSTOCK_SCRIPT_LOOP => 1 });
my $large = Pen::Http::json(Pen::Http::chat(2000, x => 'A' x 40_000_000));
$before = $d->proc('VmRSS');
my @held = map {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => $chat, body => $large);
    $f->response(20, qr/data: /);
    $f;
} 1 .. 3;
SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    cmp_ok +($d->proc('VmRSS') - $before), '<', 20_000,
        'three streams with bodies of 40 MB hold under 20 MB';
}
$_->close for @held;
is $d->stop, 0, 'ends well';

# 40 descriptors: the rest wait in the backlog and come on later.
$d = Pen::Daemon->scripted(nofile => 48,
    args => { thinking => 'off', parallel => 8, 'max-queue' => 1000 },
    env => { PENSTOCK_GAP_US => 5_000, PENSTOCK_SCRIPT_LOOP => 1 });
is streams($d, 120, 60), 120, '120 streams with 48 descriptors';
like $d->log, qr/accept_paused/, 'accepting had to pause';
my $t = time;
is $d->health->{status}, 'ok', 'afterwards all is well';
cmp_ok time - $t, '<', 1, 'at once';
is $d->stop, 0, 'ends well';

# A table of 8 connections.
$d = Pen::Daemon->scripted(
    args => { thinking => 'off', 'max-connections' => 8 },
    env => { PENSTOCK_GAP_US => 1_000, PENSTOCK_SCRIPT_LOOP => 1 });
is streams($d, 60, 60), 60, '60 streams through 8 places';

# Full of connections that say nothing: it waits without spinning, and not
# for long.
my @silent = map { Pen::Fcgi->connect($d->{socket}) } 1 .. 8;
$t = time;
my $next = Pen::Fcgi->connect($d->{socket});
$next->send_request;
sleep 0.5;
my $cpu = $d->cpu;
sleep 1;
cmp_ok $d->cpu - $cpu, '<', 0.3, 'a full table costs no processor time';
is $next->response(20)->{status}, 200, 'the next one is served';
cmp_ok time - $t, '>', 3, 'when silent ones';
is $silent[0]->next_record(1), 0, 'were closed';
is $d->stop, 0, 'ends well';
done_testing;
