# C12, C14, C15: a client that leaves, in silence or in mid-stream, streamed
# or not, HTTP/1.1 or 2, frees the engine within 100 ms and leaves one row
# that says so; the other stream of an HTTP/2 connection lives on.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $slow = $ENV{PENSTOCK_SANITIZER} ? 5 : 1;
my $d = Pen::Daemon->scripted(args => { thinking => 'off', parallel => 2 },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1,
        PENSTOCK_PREFILL_US => 500_000 });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $chat = '/v1/chat/completions';
my $id = 0;
my @took; # seconds from leaving to a free engine

# Start, let it come to a certain point, leave; how long until nobody runs?
sub leave {
    my ($name, $body, $until, %o) = @_;
    my $s = $h->stream($chat, $body, %o);
    ok $d->wait_load(1, 0), "$name: runs";
    if ($until) {
        for (1 .. $until) { $s->line(10) or last }
    } else {
        sleep 0.1;
    }
    my $t = time;
    $s->abort;
    ok $d->wait_load(0, 0, 10), "$name: the engine is free";
    push @took, time - $t;
    my @rows = $d->wait_rows("id > $id AND state <> 'open' AND endpoint = 'chat'");
    is scalar @rows, 1, "$name: one row";
    $id = $rows[-1]{id};
    is $rows[-1]{finish_reason}, 'abandoned', "$name: abandoned";
    cmp_ok $rows[-1]{prompt_tokens}, '>', 0, "$name: real prompt tokens";
    return $rows[-1];
}

for my $h2 (0, 1) {
    my $v = $h2 ? 'h2' : 'h1';
    my $r = leave("$v, streaming", Pen::Http::chat(3000), 12, h2 => $h2);
    # 12 lines: the role chunk and at least 10 tokens were delivered
    cmp_ok $r->{completion_tokens}, '>=', 10, 'tokens that were delivered';
    cmp_ok $r->{completion_tokens}, '<', 200, 'not the limit';
    $r = leave("$v, silent prefill", Pen::Http::chat(3000), 0, h2 => $h2);
    is $r->{completion_tokens}, 0, 'no tokens';
    $r = leave("$v, not streamed",
        Pen::Http::chat(3000, stream => JSON::PP::false), 0, h2 => $h2);
}
@took = sort { $a <=> $b } @took;
# A busy machine may delay one of them, not most.
cmp_ok $took[ $#took / 2 ], '<', 0.1 * $slow, 'typically within 100 ms';
cmp_ok $took[-1], '<', 1 * $slow, 'always within a second';
like $n->access_log, qr/ 499 /, 'nginx logs 499 where no header was sent';

# Two transfers on one h2 connection; the first is reset after 1 s.
my @common = ('-sS', '-N', '--http2', '--noproxy', '*', '--cacert', $n->{ca},
    '-H', 'Content-Type: application/json', '-d',
    Pen::Http::json(Pen::Http::chat(120)));
my $dir = $d->{dir};
open my $err, '>&', \*STDERR;
open STDERR, '>', "$dir/curl.log";
system('curl', '--parallel', @common, '--max-time', '1.5', '-o', "$dir/a",
    "$n->{url}$chat", '--next', @common, '-o', "$dir/b", "$n->{url}$chat");
open STDERR, '>&', $err;
my ($a, $b) = map { local (@ARGV, $/) = "$dir/$_"; <> // '' } qw(a b);
unlike $a, qr/DONE/, 'a reset h2 stream has no end';
like $b, qr/data: \[DONE\]\s*$/, 'its sibling has';
is_deeply [ sort map { $_->{finish_reason} }
        $d->wait_rows("id > $id AND state <> 'open' AND endpoint = 'chat'", 2) ],
    [ 'abandoned', 'length' ], 'and the rows say the same';
is $d->stop, 0, 'the daemon ends well';

# Over TCP a close is no hang-up, only the end of what will be read.
my $to = '127.0.0.1:' . Pen::Nginx::free_port();
$d = Pen::Daemon->scripted(args => { thinking => 'off', listen => $to },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 }, no_wait => 1);
$d->{socket} = $to;
my $f;
for (1 .. 400) {
    last if $f = Pen::Fcgi->connect($to);
    sleep 0.05;
}
$f->send_request(uri => $chat,
    body => Pen::Http::json(Pen::Http::chat(3000, stream => JSON::PP::false)));
ok $d->wait_load(1, 0), 'over TCP: runs';
my $t = time;
$f->close;
ok $d->wait_load(0, 0, 10), 'over TCP: the engine is free';
cmp_ok time - $t, '<', 1 * $slow, 'within a second';
is $d->stop, 0, 'the daemon ends well';
done_testing;
