# A daemon that is down, goes down, or is replaced under load.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $d = Pen::Daemon->scripted(
    args => { thinking => 'off', 'drain-timeout' => 20 },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $chat = '/v1/chat/completions';

# SIGTERM drains: the open stream ends by itself, newcomers get JSON.
my $s = $h->stream($chat, Pen::Http::chat(100));
$s->line(10);
$d->kill('HUP'); # is nothing
$d->kill('TERM');
sleep 0.3;
my $r = $h->post($chat, Pen::Http::chat(1));
is $r->{status}, 503, 'while draining: 503';
is $r->{json}{error}{type}, 'server_busy', 'in JSON';
like $r->{headers}{'retry-after'}, qr/^\d+$/, 'with Retry-After';
my @l = $s->lines(20);
like $l[-1][1], qr/DONE/, 'the open stream ends by itself';
is $d->wait_end(10), 0, 'then the daemon ends, status 0';
$r = $h->get('/v1/models');
is $r->{status}, 503, 'down: 503';
is $r->{json}{error}{code}, 'server_unavailable', 'in JSON';
$r = $h->get('/v2/x');
ok $r->{status} == 503 && $r->{json}{rc}, 'on /v2 in its shape';
$r = $h->post('/v1/messages', '{}');
is "$r->{status} $r->{json}{type} $r->{json}{error}{type}",
    '503 error overloaded_error', 'on /v1/messages in that of its clients';

# The drain time-out ends a stream with an error that clients see.
$d = Pen::Daemon->scripted(socket => $d->{socket},
    args => { thinking => 'off', 'drain-timeout' => 1 },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });
$s = $h->stream($chat, Pen::Http::chat(3000));
$s->line(10);
my $t = time;
$d->kill('TERM');
@l = map { $_->[1] } $s->lines(20);
cmp_ok time - $t, '<', 10, 'ended by the time-out';
ok((grep { /"error"/ } @l), 'with an error event');
is $d->wait_end(10), 0, 'status 0';
is((($d->rows("endpoint = 'chat'"))[-1] // {})->{state} // 'none', 'failed',
    'the row is closed as failed');

# A second SIGTERM ends at once.
$d = Pen::Daemon->scripted(socket => $d->{socket},
    args => { thinking => 'off' },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });
$s = $h->stream($chat, Pen::Http::chat(3000));
$s->line(10);
my $half = Pen::Fcgi->connect($d->{socket}); # a handler reads and waits
$half->begin;
sleep 0.2;
$d->kill('TERM');
sleep 1.5;
ok $d->alive, 'draining';
$t = time;
$d->kill('TERM');
is $d->wait_end(10), 0, 'a second SIGTERM: status 0';
cmp_ok time - $t, '<', 5, 'soon';
$s->abort;

# What waited in the backlog when SIGTERM came is served: more than is
# accepted in one go.
$d = Pen::Daemon->scripted(socket => $d->{socket});
$d->kill('STOP');
my @waits = map {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request;
    $f;
} 1 .. 400;
$d->kill('TERM');
$d->kill('CONT');
is scalar(grep { $_->response(20)->{status} } @waits), 400,
    'a backlog of 400 is answered';
is $d->wait_end, 0, 'status 0';

# Replacement under load: no request fails. Same socket, same database.
$d = Pen::Daemon->scripted(socket => $d->{socket}, args => { thinking => 'off' });
my $end = time + 4;
my @pids = map {
    my $pid = fork // die;
    if (!$pid) {
        my ($count, $bad) = (0, 0);
        while (time < $end) {
            my $q = $_ % 2 ? $h->get('/v1/models')
                : $h->post($chat, Pen::Http::chat(3, stream => JSON::PP::false));
            $count++;
            if (($q->{status} // 0) != 200) {
                $bad++;
                print STDERR "# ", $q->{status} // 'none', " $q->{body}\n";
            }
        }
        require POSIX;
        POSIX::_exit($bad || !$count ? 1 : 0);
    }
    $pid;
} 1 .. 4;
sleep 1;
my $new = Pen::Daemon->spawn(bin => $d->{bin}, socket => $d->{socket},
    dir => $d->{dir}, log => "$d->{dir}/log2", args => {
        model => $Pen::Daemon::DEMO, 'model-id' => 'demo', thinking => 'off',
        replace => 'on' });
is $d->wait_end(15), 0, 'the new one ended the old one';
my $bad = 0;
for (@pids) { waitpid $_, 0; $bad++ if $? }
is $bad, 0, 'and no client noticed';
is $new->health->{status}, 'ok', 'the new one serves';
sleep 1.5; # the lock passes over within a second
my $said = `$d->{bin} --model $Pen::Daemon::DEMO --socket $d->{socket} --db $d->{dir}/x.db 2>&1`;
like $said, qr/pid $new->{pid}/, 'and holds the lock now';
is_deeply [ $new->rows("state = 'open'") ], [], 'no row is left open';
is_deeply [ $new->rows("state = 'failed'") ], [], 'none failed';
is $new->stop, 0, 'ends well';
done_testing;
