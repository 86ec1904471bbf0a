# kill -9 under load, again and again: no answer that a client saw finished is
# missing from the ledger, no row stays open, and the database stays sound.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;
use Time::HiRes qw(sleep);

Pen::Js::need();
my $rounds = $ENV{KILL_ROUNDS} // 20;
my $d = Pen::Daemon->start(args => { parallel => 8 });
my $site = Pen::Nginx->start(socket => $d->{socket});
my $load = Pen::Js::start('restart.mjs', site => $site);
my $served = 0;
for my $round (1 .. $rounds) {
    my $want = $served + 5 + $round % 7;
    my @done = $d->wait_rows("state = 'done' AND status = 200", $want, 60);
    cmp_ok scalar @done, '>=', $want, "round $round serves";
    $served = @done;
    $d->kill('KILL');
    $d->wait_end;
    sleep 0.05 * ($round % 4);
    $d->run->wait_ready(60);
}
print { $load->{in} } "stop\n";
$load->{in}->flush;
my @finished = map { /^# finished (\S+)/ } $load->finish;
is $d->stop, 0, 'it ends with 0';
my %row = map { $_->{request_id} => $_ } $d->rows('1');
my @lost = grep { !$row{$_} || $row{$_}{state} ne 'done' } @finished;
is "@lost", '', scalar(@finished) . ' finished answers all have their row';
is_deeply [ $d->rows("state = 'open'") ], [], 'no row stays open';
is `sqlite3 $d->{db} 'PRAGMA integrity_check'`, "ok\n", 'the database is sound';
done_testing;
