# A client that stops reading is given up, its memory bounded, the row says
# slow_client; a client that is only late gets everything.
use strict;
use warnings;
use lib 't/lib';
use IO::Select;
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;

my $chat = '/v1/chat/completions';
my $d = Pen::Daemon->scripted(
    args => { thinking => 'off', 'default-max-tokens' => 100_000,
        context => 200_000 },
    env => { PENSTOCK_GAP_US => 100, PENSTOCK_SCRIPT_LOOP => 1 });
my $body = Pen::Http::json(Pen::Http::chat(10_000));

my $rss = $d->proc('VmRSS');
my $f = Pen::Fcgi->connect($d->{socket});
$f->send_request(uri => $chat, body => $body);
sleep 1; # under the limit of 2 s: late, not gone
my $r = $f->response(60);
ok $r->{body} =~ /data: \[DONE\]/, 'a late reader gets the end';
is scalar(() = $r->{body} =~ /"finish_reason":"length"/g), 1, 'one finish';
is $r->{ended}, 1, 'cleanly';

my $forever = Pen::Http::json(Pen::Http::chat(100_000));
my @stalled = map {
    my $g = Pen::Fcgi->connect($d->{socket});
    $g->send_request(uri => $chat, body => $forever);
    $g;
} 1 .. 8;
my @rows = $d->wait_rows("finish_reason = 'slow_client'", 8, 30);
is scalar @rows, 8, 'eight that never read are given up';
cmp_ok $_->{completion_tokens}, '>', 0, 'with real counts' for @rows;
SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    cmp_ok $d->proc('VmHWM') - $rss, '<', 40_000, 'memory stays bounded';
}
for my $g (@stalled[ 0, 1 ]) {
    my $q = $g->response(10);
    ok $q->{body} !~ /DONE/, 'what they find later has no end';
}

# A long answer goes out in hundreds of pieces, for which the others wait.
SKIP: {
    skip 'sanitizers stretch time', 2 if $ENV{PENSTOCK_SANITIZER};
    my $g = Pen::Fcgi->connect($d->{socket});
    $g->send_request(uri => $chat, body => Pen::Http::json(Pen::Http::chat(2000,
        stream => \0, n => 16, logprobs => \1, top_logprobs => 20)));
    my $ready = IO::Select->new($g->{s});
    $ready->can_read(60);
    my ($cpu, $size) = ($d->cpu, 0); # the answer is made
    while ($ready->can_read(2)) {
        $size += sysread($g->{s}, my $piece, 65_536) || last;
        sleep 0.001;
    }
    cmp_ok $size, '>', 30_000_000, 'a very long answer';
    cmp_ok $d->cpu - $cpu, '<', 0.3, 'its pieces are no work';
}
is $d->health->{status}, 'ok', 'alive';
is $d->stop, 0, 'the daemon ends well';
done_testing;
