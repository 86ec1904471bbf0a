# kill -9 in mid-stream: the row that was open is closed as failed at the next
# start; C44: a writer that locks the ledger delays no request.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;

my $chat = '/v1/chat/completions';
my $d = Pen::Daemon->scripted(args => { thinking => 'off' },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });
my $f = Pen::Fcgi->connect($d->{socket});
$f->send_request(uri => $chat, body => Pen::Http::json(Pen::Http::chat(3000)));
$f->response(5, qr/"content"/);
my ($row) = $d->wait_rows("state = 'open'");
ok $row, 'a row is open while it streams';
$d->kill('KILL');
is $d->wait_end, 128 + 9, 'killed';
is $f->response(5)->{ended}, 0, 'the stream has no END_REQUEST';
$d->run->wait_ready(30);
my ($after) = $d->rows("id = $row->{id}");
is $after->{state}, 'failed', 'the row is closed as failed';
is $after->{error_type}, 'died', 'and says why';
is_deeply [ $d->rows("state = 'open'") ], [], 'no row stays open';
is $d->stop, 0, 'ends well';

# C44: another process holds the write lock for 3 s.
$d = Pen::Daemon->scripted(
    args => { thinking => 'off', parallel => 64, 'max-queue' => 64 });
my $warm = Pen::Fcgi->request($d->{socket}, uri => $chat,
    body => Pen::Http::json(Pen::Http::chat(3, stream => JSON::PP::false)));
is $warm->{status}, 200, 'a first request';
open my $lock, '|-', 'sqlite3', $d->{db} or plan skip_all => 'no sqlite3';
$lock->autoflush(1);
print $lock "BEGIN IMMEDIATE;\n.shell echo locked >$d->{dir}/locked\n";
for (1 .. 200) { last if -e "$d->{dir}/locked"; sleep 0.02 }
my $t = time;
my @f = map {
    my $g = Pen::Fcgi->connect($d->{socket});
    $g->send_request(uri => $chat, body => Pen::Http::json(
        Pen::Http::chat(3, stream => JSON::PP::false)));
    $g;
} 1 .. 64;
my $good = grep { ($_->response(10)->{status} // 0) == 200 } @f;
my $took = time - $t;
is $good, 64, '64 requests while the ledger is locked: all 200';
SKIP: {
    skip 'sanitizers stretch time', 1 if $ENV{PENSTOCK_SANITIZER};
    cmp_ok $took, '<', 2, "none waited for the lock ($took s)";
}
sleep 3 - $took if $took < 3;
print $lock "COMMIT;\n";
close $lock;
is scalar(my @all = $d->wait_rows("endpoint = 'chat' AND state = 'done'", 65)),
    65, 'and every row is there';
is $d->stop, 0, 'ends well';
done_testing;
