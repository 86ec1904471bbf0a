# A parent holds the listening socket, as systemd does: a daemon that is told
# to end drains, its successor on the same socket takes who comes, and no
# client notices, neither when both run for a while nor when none does.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempdir);
use IO::Socket::UNIX;
use POSIX ();
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $dir = tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $path = "$dir/held.sock";
my $listener;
{
    local $^F = 1000; # it is handed on: not close-on-exec
    $listener = IO::Socket::UNIX->new(Local => $path, Listen => 1000)
        or die "listen: $!";
}
chmod 0777, $dir, $path;
my $chat = '/v1/chat/completions';
my $count = 0;

sub on_the_socket {
    my %o = @_;
    $count++;
    return Pen::Daemon->scripted(socket => $path, dir => $dir,
        log => "$dir/log$count", %o,
        args => { thinking => 'off', 'drain-timeout' => 60 },
        env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 },
        in_child => sub {
            POSIX::dup2(fileno $listener, 3);
            @ENV{qw(LISTEN_PID LISTEN_FDS)} = ($$, 1);
        });
}

# Clients that ask for little until `pipe` closes; how many failed.
sub clients {
    my $h = shift;
    pipe my $stay, my $end or die;
    my @pids = map {
        my $k = $_;
        my $pid = fork // die;
        if (!$pid) {
            close $end;
            my ($n, $bad) = (0, 0);
            my $vec = '';
            vec($vec, fileno $stay, 1) = 1;
            until (select my $ready = $vec, undef, undef, 0) {
                my $r = $k % 2 ? $h->get('/v1/models') : $h->post($chat,
                    Pen::Http::chat(2, stream => JSON::PP::false));
                $n++;
                next if ($r->{status} // 0) == 200;
                $bad++;
                print STDERR '# ', $r->{status} // 'none', " $r->{body}\n";
            }
            POSIX::_exit($bad || !$n ? 1 : 0);
        }
        $pid;
    } 1 .. 4;
    close $stay;
    return sub {
        close $end;
        return scalar grep { waitpid $_, 0; $? } @pids;
    };
}

my $old = on_the_socket();
my $n = Pen::Nginx->start(socket => $path);
my $h = Pen::Http->new($n);
is $old->health->{status}, 'ok', 'served on an inherited socket';

# 5 s of tokens: the old one drains as long.
my $s = $h->stream($chat, Pen::Http::chat(250));
ok $s->line(20), 'a stream runs';
my $failed = clients($h);
sleep 0.5;
$old->kill('TERM');
my $new = on_the_socket(no_wait => 1);
$new->wait_ready(60);
ok -S $path, 'the socket is still there';
my @l = $s->lines(60);
like $l[-1][1], qr/DONE/, 'the stream of the old one ended by itself';
is scalar(grep { $_->[1] =~ /"error"/ } @l), 0, 'without an error';
is $old->wait_end, 0, 'then the old one ended';
sleep 0.3;

# Now as systemctl restart does it: first the end, then the start.
is $new->stop, 0, 'the second ends with nobody to follow';
ok -S $path, 'the socket is still there';
my $waits = Pen::Fcgi->connect($path);
ok $waits && $waits->send_request, 'who comes now can connect';
my $third = on_the_socket(no_wait => 1);
is $waits->response(60)->{status}, 200, 'and is served by the third';
$third->wait_ready(60);
sleep 0.5;
is $failed->(), 0, 'no client noticed anything';
is_deeply [ $third->rows("state = 'open'") ], [], 'no row is left open';
is_deeply [ map { "$_->{finish_reason} $_->{error_type}" }
    $third->rows("state = 'failed'") ], [], 'none failed';
my ($row) = $third->rows('completion_tokens = 250');
is $row->{finish_reason}, 'length', "the stream's row is complete";
is $third->stop, 0, 'the third ends well';
done_testing;
