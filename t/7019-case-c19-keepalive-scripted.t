# C19: connections that nginx keeps open starve nobody: two handler threads,
# eight idle kept connections, and as many requests beside them.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $d = Pen::Daemon->scripted(args => { handlers => 2, thinking => 'off' });
my $n = Pen::Nginx->start(socket => $d->{socket},
    http => "upstream keep { server unix:$d->{socket}; keepalive 8; }",
    edit => sub {
        s/fastcgi_pass unix:\S+;/fastcgi_pass keep; fastcgi_keep_conn on;/;
        s/fastcgi_read_timeout \w+;/fastcgi_read_timeout 5s;/;
    });
my $h = Pen::Http->new($n);

sub many { # parallel gets, one after another in each of $k processes
    my ($k, $each, $path) = @_;
    my @pids = map {
        my $pid = fork // die;
        if (!$pid) {
            open my $in, '-|', 'curl', '-s', '-w', ' %{http_code}', '--noproxy',
                '*', '--cacert', $n->{ca}, '--max-time', 20,
                map { ($n->{url} . $path, '-o', '/dev/null') } 1 .. $each;
            my @codes = split ' ', <$in>;
            my $bad = $each - grep { $_ == 200 } @codes;
            require POSIX;
            POSIX::_exit($bad ? 1 : 0);
        }
        $pid;
    } 1 .. $k;
    my $bad = 0;
    for (@pids) { waitpid $_, 0; $bad++ if $? }
    return $bad;
}

is many(8, 1, '/health'), 0, '8 in parallel: kept afterwards';
my $t = time;
is many(4, 1, '/health'), 0, '4 in parallel, then';
is many(8, 25, '/health'), 0, '200 more, all 200';
cmp_ok time - $t, '<', 20, 'without waiting for a time-out';
unlike $n->log, qr/timed out|504/, 'nginx saw no time-out';

# Straight to the socket: eight kept and idle, then newcomers are served.
my @kept = map {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(keep => 1);
    is $f->response(5)->{ended}, 1, 'kept connection answered' if $_ == 1;
    $f->response(5) if $_ > 1;
    $f;
} 1 .. 8;
$t = time;
is(Pen::Fcgi->request($d->{socket})->{status}, 200, 'a newcomer is served');
cmp_ok time - $t, '<', 1, 'at once';
$_->send_request(keep => 1) for @kept;
is scalar(grep { $_->response(5)->{status} == 200 } @kept), 8,
    'and all eight go on';
cmp_ok $d->proc('Threads'), '<', 12, 'without a thread for each';

# Silent connections do not delay anybody, and are dropped after 5 s.
my @silent = map { Pen::Fcgi->connect($d->{socket}) } 1 .. 20;
$t = time;
is(Pen::Fcgi->request($d->{socket})->{status}, 200, 'beside 20 silent ones');
cmp_ok time - $t, '<', 1, 'at once';
is $silent[0]->next_record(8), 0, 'a silent connection is closed';
is $d->stop, 0, 'the daemon ends well';
done_testing;
