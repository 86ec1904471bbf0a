# C13, C39: one slot, two places. Five of eight are refused at once with
# Retry-After; one that leaves the queue never reaches the engine and its
# place is free; the order is kept.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $slow = $ENV{PENSTOCK_SANITIZER} ? 10 : 1;
my $d = Pen::Daemon->scripted(
    args => { thinking => 'off', parallel => 1, 'max-queue' => 2 },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $chat = '/v1/chat/completions';

my $first = $h->stream($chat, Pen::Http::chat(100)); # 2 s
ok $d->wait_load(1, 0), 'A runs';
my $second = $h->stream($chat, Pen::Http::chat(10));
ok $d->wait_load(1, 1), 'B waits';
my $third = $h->stream($chat, Pen::Http::chat(10));
ok $d->wait_load(1, 2), 'C waits';
my @took;
for my $i (1 .. 5) {
    my $t = time;
    my $r = Pen::Fcgi->request($d->{socket}, uri => $chat,
        body => Pen::Http::json(Pen::Http::chat(5,
            $i > 3 ? (stream => JSON::PP::false) : ())));
    my $took = time - $t;
    is $r->{status}, 503, "refused $i";
    push @took, $took;
    like $r->{headers}{'retry-after'}, qr/^\d+$/, 'Retry-After';
    my $said = JSON::PP->new->decode($r->{body});
    is $said->{error}{type}, 'server_busy', 'JSON';
}
cmp_ok +(sort { $a <=> $b } @took)[2], '<', 0.1 * $slow,
    'refused within 100 ms';
my $t = time;
$second->abort;
ok $d->wait_load(1, 1, 2), "B's place is free";
cmp_ok time - $t, '<', 1 * $slow, 'within a second';
$first->lines(30);
my $end_a = time;
my $l = $third->line(10);
cmp_ok $l->[0] - $end_a, '<', 0.3 * $slow, 'C starts right after A';
my @rest = $third->lines(10);
like $rest[-1][1], qr/DONE/, 'and ends';
ok $d->wait_load(0, 0), 'the counters are back to 0';
my ($row) = $d->wait_rows("finish_reason = 'abandoned'");
is $row->{completion_tokens}, 0, "B's row: no token";
is $d->health->{steps}{tokens_out}, 110, 'the engine wrote for A and C alone';
is scalar(my @all = $d->wait_rows("state <> 'open' AND endpoint = 'chat'", 8)),
    8, 'a row for each of the eight';
is $d->stop, 0, 'the daemon ends well';
done_testing;
