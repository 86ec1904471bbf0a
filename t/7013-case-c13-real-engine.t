# C13 with a real model: who leaves the queue, streamed or not, never reaches
# the engine; its place is free, and the next one starts when the one before
# has ended.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time);
use Pen::Daemon;
use Pen::Http;
use Pen::Model;
use Pen::Nginx;

plan skip_all => 'no penstockd' unless -x Pen::Daemon::build() . '/penstockd';
my $slow = $ENV{PENSTOCK_SANITIZER} ? 10 : 1;
my $d = Pen::Daemon->start(model => Pen::Model::slow(), args => {
    parallel => 1, 'side-slots' => 0, threads => 1, 'max-queue' => 2 });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $uri = '/v1/completions';

for my $how ([ streamed => 1 ], [ 'not streamed' => 0 ]) {
    my ($name, $stream) = @$how;
    my $first = $h->stream($uri, Pen::Model::ask("A $name:", 600));
    ok $first->line(20 * $slow), "$name: A runs";
    my $before = $d->health->{steps}{tokens_out};
    my $leaves = $h->stream($uri, Pen::Model::ask("B $name:", 5000,
            $stream ? () : (stream => JSON::PP::false)));
    ok $d->wait_load(1, 1, 20 * $slow), 'B waits';
    my $third = $h->stream($uri, Pen::Model::ask("C $name:", 5));
    ok $d->wait_load(1, 2, 20 * $slow), 'C waits';
    my $t = time;
    $leaves->abort;
    ok $d->wait_load(1, 1, 20 * $slow), "$name: B's place is free";
    cmp_ok time - $t, '<', 1 * $slow, 'within a second';
    my @a = $first->lines(120);
    like $a[-1][1], qr/DONE/, 'A ends';
    my @c = $third->lines(20 * $slow);
    like $c[-1][1], qr/DONE/, 'C ends';
    my ($row) = $d->wait_rows("finish_reason = 'abandoned' AND stream = "
        . ($stream ? 1 : 0));
    is $row->{completion_tokens}, 0, "B's row: no token";
    is $row->{state}, 'done', 'and no failure';
    cmp_ok $d->health->{steps}{tokens_out} - $before, '<=', 605,
        'the engine wrote for A and C alone';
    ok $d->wait_load(0, 0), 'the counters are back to 0';
}
is $d->stop, 0, 'the daemon ends well';
done_testing;
