# The daemon goes away under load, politely and by kill -9: clients read JSON
# errors, every answer that a client saw finished has its row, and rows that a
# dead daemon left open are closed as failed.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
my $d = Pen::Daemon->start(args => { parallel => 8 });
my $site = Pen::Nginx->start(socket => $d->{socket});
my $load = Pen::Js::start('restart.mjs', site => $site);

sub served { my $n = () = $d->wait_rows("state = 'done' AND status = 200", shift, 60); $n }

ok served(16) >= 16, 'requests are served';
is $d->stop, 0, 'SIGTERM under load ends with 0';
is count("state = 'open'"), 0, 'a drained daemon leaves no row open';
ok refused_by(50), 'requests came while it was down';
my $before = count('1');
$d->run->wait_ready(60);
ok served($before + 16), 'started again, it serves';
$d->kill('KILL');
$d->wait_end;
ok refused_by(100), 'requests came while it was dead';
$d->run->wait_ready(60);
my $rows = count('1');
ok served($rows + 8), 'started after kill -9, it serves';
print { $load->{in} } "stop\n";
$load->{in}->flush;
my @finished = map { /^# finished (\S+)/ } $load->finish;
is $d->stop, 0, 'it ends with 0';

my %row = map { $_->{request_id} => $_ } $d->rows('1');
my @lost = grep { !$row{$_} || $row{$_}{state} ne 'done' } @finished;
is "@lost", '', 'every answer that a client saw finished has its closed row';
my @died = $d->rows("error_type = 'died'");
is scalar(grep { $_->{state} ne 'failed' } @died), 0,
    'rows that the killed daemon left open are failed';
is count("state = 'open'"), 0, 'none stays open';
done_testing;

sub count { my @r = $d->rows(shift); return scalar @r }

# Wait until nginx has answered so many 503 in all.
sub refused_by {
    my $n = shift;
    for (1 .. 600) {
        my $seen = () = $site->access_log =~ /" 503 /g;
        return 1 if $seen >= $n;
        select undef, undef, undef, 0.02;
    }
    return 0;
}
