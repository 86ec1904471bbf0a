# Everything at once for some seconds: short requests, streams, clients that
# leave at any moment, refusals, kept connections, silent ones. Afterwards
# nothing runs, nothing is open, and every row is closed.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use POSIX ();
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;

my $d = Pen::Daemon->scripted(
    args => { thinking => 'off', handlers => 3, 'max-queue' => 6,
        'body-max' => 200_000, 'wait-line-ms' => 50, 'prefill-line-ms' => 50 },
    env => { PENSTOCK_GAP_US => 1000, PENSTOCK_PREFILL_US => 30_000,
        PENSTOCK_SCRIPT_LOOP => 1 });
my $chat = '/v1/chat/completions';
my $seconds = $ENV{PENSTOCK_LONG} ? 60 : 4;
my $seed = $ENV{SEED} // time;
my $short = Pen::Http::json(Pen::Http::chat(15));
my $whole = Pen::Http::json(Pen::Http::chat(15, stream => JSON::PP::false));
my $long = Pen::Http::json(Pen::Http::chat(3000));

# Each returns true when all was as it should be.
my @acts = (
    sub { (Pen::Fcgi->request($d->{socket})->{status} // 0) == 200 },
    sub {
        my $r = Pen::Fcgi->request($d->{socket}, uri => $chat, body => $short);
        return $r->{ended} && ($r->{status} == 503
            || $r->{body} =~ /data: \[DONE\]\s*$/);
    },
    sub {
        my $r = Pen::Fcgi->request($d->{socket}, uri => $chat, body => $whole);
        return $r->{ended} && ($r->{status} == 503 || $r->{status} == 200
            && length $r->{body} == $r->{headers}{'content-length'});
    },
    sub { # leaves at any moment
        my $f = Pen::Fcgi->connect($d->{socket});
        $f->send_request(uri => $chat, body => $long);
        sleep rand 0.1;
        $f->close;
        return 1;
    },
    sub { # leaves while it sends
        my $f = Pen::Fcgi->connect($d->{socket});
        $f->begin;
        $f->params(Pen::Fcgi::nginx_params(body => $long, uri => $chat))
            if rand > 0.5;
        $f->close;
        return 1;
    },
    sub {
        my $r = Pen::Fcgi->request($d->{socket}, uri => $chat,
            body => 'x' x 50_000, params => { CONTENT_LENGTH => 999_999_999 });
        return ($r->{status} // 0) == 413 && $r->{ended};
    },
    sub {
        my $f = Pen::Fcgi->connect($d->{socket});
        for (1 .. 4) {
            $f->send_request(uri => $_ % 2 ? '/health' : '/v1/models', keep => 1);
            return 0 unless ($f->response(10)->{status} // 0) == 200;
        }
        return 1;
    },
);
my @pids = map {
    my $k = $_;
    my $pid = fork // die;
    if (!$pid) {
        srand $seed + $k;
        my ($end, $bad) = (time + $seconds, 0);
        while (time < $end) {
            my $i = int rand @acts;
            next if eval { $acts[$i]->() };
            $bad++;
            print STDERR "# act $i failed ", $@ // '', "\n";
        }
        POSIX::_exit($bad ? 1 : 0);
    }
    $pid;
} 1 .. 5;
my $bad = 0;
for (@pids) { waitpid $_, 0; $bad++ if $? }
is $bad, 0, 'every client got what it should' or diag "SEED=$seed";
ok $d->wait_load(0, 0), 'nothing runs, nothing waits';
is $d->health->{open}, 0, 'no stream is open';
my @open;
for (1 .. 100) {
    last unless @open = $d->rows("state = 'open'");
    sleep 0.05;
}
is scalar @open, 0, 'no row is open';
my %how = map { ($_->{finish_reason} // 'null') => 1 } $d->rows;
ok $how{abandoned} && $how{length} && $how{refused}, 'rows of every outcome'
    or diag explain \%how;
cmp_ok $d->proc('Threads'), '<', 14, 'no thread was left behind';
is $d->stop, 0, 'the daemon ends well';
done_testing;
