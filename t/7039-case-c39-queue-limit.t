# C39 with a real model: one slot, two places, eight requests at once, two of
# them not streamed. One runs, two wait, five are refused at once, in JSON
# with Retry-After; the order is kept and the counters return to 0.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time);
use Pen::Daemon;
use Pen::Http;
use Pen::Model;

plan skip_all => 'no penstockd' unless -x Pen::Daemon::build() . '/penstockd';
my $slow = $ENV{PENSTOCK_SANITIZER} ? 10 : 1;
my $d = Pen::Daemon->start(model => Pen::Model::slow(), args => {
    parallel => 1, 'side-slots' => 0, threads => 1, 'max-queue' => 2 });

my @all;
my $t = time;
for my $i (1 .. 8) {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => '/v1/completions', body => Pen::Http::json(
        Pen::Model::ask("Number $i:", $i == 1 ? 600 : 20,
            $i % 4 ? () : (stream => JSON::PP::false))));
    push @all, $f;
    # the first three one by one: whose place is whose
    ok $d->wait_load(1, $i - 1, 20 * $slow), "$i is in" if $i < 4;
}
for my $i (4 .. 8) {
    my $r = $all[ $i - 1 ]->response(20 * $slow);
    my $took = time - $t;
    is $r->{status}, 503, "$i: refused";
    cmp_ok $took, '<', 5 * $slow, 'at once';
    like $r->{headers}{'retry-after'}, qr/^\d+$/, 'Retry-After in seconds';
    my $e = JSON::PP->new->decode($r->{body})->{error};
    is "$e->{type} " . ($e->{code} // 'null'), 'server_busy null', 'in JSON';
}
ok $d->wait_load(1, 2, 1), 'one runs, two wait';
my @end;
for my $i (1 .. 3) {
    my $r = $all[ $i - 1 ]->response(120);
    like $r->{body}, qr/data: \[DONE\]\n\n\z/, "$i: served to its end";
}
my @rows = $d->wait_rows("status = 200 AND state = 'done'", 3);
is scalar @rows, 3, 'three rows of what was served';
my @start = map { $_->{ts_ms} + $_->{queue_ms} } @rows;
ok $start[0] <= $start[1] && $start[1] <= $start[2], 'the order is kept';
cmp_ok $start[1], '>=', $rows[0]{ts_ms} + $rows[0]{total_ms} - 50,
    'one after the other';
is scalar(my @refused = $d->rows("status = 503 AND finish_reason = 'refused'")),
    5, 'and five of what was not';
ok $d->wait_load(0, 0), 'the counters are back to 0';
is $d->stop, 0, 'the daemon ends well';
done_testing;
