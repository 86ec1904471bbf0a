# C22: mode and group of the socket, a stale file, a second copy, long paths,
# inherited listeners, TCP.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempdir);
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use Pen::Daemon;
use Pen::Nginx;

umask 022;
my $d = Pen::Daemon->scripted;
is sprintf('%04o', (stat $d->{socket})[2] & 07777), '0660',
    'mode 0660 under umask 022';
my ($first) = $d->{pid};
my $other = "$d->{bin} --model $Pen::Daemon::DEMO --socket $d->{socket} "
    . "--db $d->{dir}/b.db";
my $said = `$other 2>&1`;
is $? >> 8, 1, 'a second copy refuses';
like $said, qr/pid $first/, 'and names the first';
is $d->health->{status}, 'ok', 'which goes on working';
ok !-e "$d->{dir}/b.db", 'the second touched no database';

$d->kill('KILL');
$d->wait_end;
ok -S $d->{socket}, 'kill -9 leaves a stale socket';
$d->run->wait_ready(30);
is $d->health->{status}, 'ok', 'which the next start replaces';
$d->kill('KILL');
$d->wait_end;
$d->{in_child} = sub {
    IO::Socket::UNIX->new(Local => "$d->{dir}/.$$", Listen => 1) or die;
};
$d->run->wait_ready(30);
is $d->health->{status}, 'ok', 'so it is before the rename, with our number';
is $d->stop, 0, 'ends well';
ok !-e $d->{socket}, 'and takes its socket along';

SKIP: {
    skip 'changing groups needs root', 2 if $>;
    my $g = Pen::Daemon->scripted(args => { 'socket-mode' => '0600',
        'socket-group' => 'daemon' });
    my @st = stat $g->{socket};
    is sprintf('%04o', $st[2] & 07777), '0600', 'socket-mode';
    is $st[5], scalar getgrnam('daemon'), 'socket-group';
}
my $cmd = "$d->{bin} --model $Pen::Daemon::DEMO --db $d->{dir}/c.db";
$said = `$cmd --socket $d->{dir}/s --socket-group no-such-group 2>&1`;
is $? >> 8, 2, 'an unknown group';
like $said, qr/no-such-group/, 'is named';
unlike $said, qr/ info model /, 'before a model is loaded';

my $long = tempdir(TMPDIR => 1, CLEANUP => 1);
$said = `$cmd --socket $long/@{[ 'x' x 110 ]} 2>&1`;
is $? >> 8, 2, 'a path over 107 bytes';
like $said, qr/at most 107/, 'gets a reason';
my $fits = "$long/" . 'y' x (107 - length "$long/");
my $l = Pen::Daemon->scripted(socket => $fits);
is $l->health->{status}, 'ok', 'one of 107 bytes works';

my $port = Pen::Nginx::free_port();
my $t = Pen::Daemon->scripted(args => { listen => "127.0.0.1:$port" },
    no_wait => 1);
sub over_tcp {
    for (1 .. 200) {
        my $f = Pen::Fcgi->connect("127.0.0.1:$port");
        if ($f) {
            $f->send_request;
            return $f->response(5)->{status};
        }
        select undef, undef, undef, 0.05;
    }
}
is over_tcp(), 200, 'TCP on loopback';
is $t->stop, 0, 'ends well';

# Inherited: descriptor 0, and systemd's descriptor 3.
for my $how ('stdin', 'LISTEN_FDS') {
    my $path = "$long/in-$how";
    local $^F = 20; # do not mark it close-on-exec
    my $listener = IO::Socket::UNIX->new(Local => $path, Listen => 100)
        or die "listen: $!";
    my $pid = fork // die;
    if (!$pid) {
        open STDERR, '>', "$long/log-$how";
        my $fd = $how eq 'stdin' ? 0 : 3;
        POSIX::dup2(fileno $listener, $fd);
        POSIX::dup2(POSIX::open('/dev/null'), 0) if $fd;
        @ENV{qw(LISTEN_FDS LISTEN_PID)} = (1, $$) if $fd;
        exec split / /, "$cmd --socket $long/unused";
    }
    # A request made before it is up waits in the backlog.
    my $r = Pen::Fcgi->request($path, timeout => 30);
    is $r->{status}, 200, "$how: served";
    kill 'TERM', $pid;
    waitpid $pid, 0;
    is $?, 0, "$how: ends well";
    ok -S $path, "$how: the socket is not ours to unlink";
}

# What systemd handed to another process, our parent perhaps, is not ours.
{
    my $own = "$long/own";
    local $^F = 20;
    my $listener = IO::Socket::UNIX->new(Local => "$long/theirs", Listen => 1)
        or die "listen: $!";
    my $pid = fork // die;
    if (!$pid) {
        open STDERR, '>', "$long/log-own";
        POSIX::dup2(fileno $listener, 3);
        POSIX::dup2(POSIX::open('/dev/null'), 0);
        @ENV{qw(LISTEN_FDS LISTEN_PID)} = (1, getppid);
        exec split / /, "$cmd --socket $own";
    }
    for (1 .. 300) {
        last if -S $own;
        select undef, undef, undef, 0.1;
    }
    ok -S $own, 'LISTEN_PID of another: a socket of its own';
    kill 'TERM', $pid;
    waitpid $pid, 0;
    is $?, 0, 'which ends well';
}
done_testing;
