# X-Request-Id is on every answer, whatever its status, and names its row in
# the ledger: every generation has one, and every refusal. Retry-After is where
# a retry makes sense, 429 and 503, and nowhere else. Errors are JSON.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(sleep time);
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;
use Pen::Http;

plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my ($chat, $text) = ('/v1/chat/completions', '/v1/completions');
my $hi = '{"messages":[{"role":"user","content":"Hi"}]}';
my $long = Pen::Http::json(Pen::Http::chat(4000));
my %seen;

# One answer: its id, the row, Retry-After.
sub check {
    my ($d, $r, $name, $status, %o) = @_;
    my $id = $r->{headers}{'x-request-id'} // '';
    is $r->{status}, $status, "$name: $status";
    like $id, qr/^(?:chatcmpl|cmpl|req)-[0-9a-f]{24}$/, 'X-Request-Id';
    ok !$seen{$id}++, 'of its own';
    my $retry = $r->{headers}{'retry-after'};
    if ($status == 429 || $status == 503) {
        like $retry, qr/^[1-9]\d*$/, 'Retry-After in whole seconds';
    } else {
        is $retry, undef, 'no Retry-After';
    }
    if ($status >= 400 && !$o{head}) {
        is join(' ', sort keys %{ error($r) }), 'code message param type',
            'JSON of four keys';
    }
    return if $o{no_row};
    my @rows = $d->wait_rows("request_id = '$id' AND state <> 'open'");
    is scalar @rows, 1, 'its row';
    is $rows[0]{status}, $status, 'which says the same status';
    return $rows[0];
}

sub ask {
    my ($d, $method, $uri, $body, %params) = @_;
    return Pen::Fcgi->request($d->{socket}, method => $method, uri => $uri,
        body => $body, timeout => 60, params => \%params);
}

# Half a request: what comes later is read on a connection that is there.
sub half {
    my ($d, $uri, $body) = @_;
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->begin;
    return ($f, sub {
        $f->params(Pen::Fcgi::nginx_params(uri => $uri, body => $body));
        $f->stdin($body // '');
        return $f;
    });
}

my $d = Pen::Daemon->scripted(args => { thinking => 'off',
    'default-max-tokens' => 5, 'cors-origin' => 'https://a.example' });
for my $uri ($chat, $text) {
    my $body = $uri eq $chat ? $hi : '{"prompt":"Hi"}';
    my $r = ask($d, POST => $uri, $body);
    my $row = check($d, $r, "JSON of $uri", 200);
    is whole($r)->{id}, $row->{request_id}, 'as in the answer';
    $r = ask($d, POST => $uri, $body =~ s/}$/,"stream":true}/r);
    $row = check($d, $r, "stream of $uri", 200);
    is joined($r)->{chunks}[0]{id}, $row->{request_id}, 'as in the stream';
    check($d, ask($d, POST => $uri, '{'), 'broken JSON', 400);
    check($d, ask($d, POST => $uri, ''), 'no body', 400);
    check($d, ask($d, POST => $uri, $body =~ s/}$/,"model":"x"}/r),
        'an unknown model', 404);
    check($d, ask($d, POST => $uri, $body, REMOTE_ADDR => '192.0.2.1'),
        'no key', 401);
    check($d, ask($d, POST => $uri, $body, CONTENT_LENGTH => 1 << 40),
        'a large body', 413);
    check($d, ask($d, POST => $uri, $body, CONTENT_LENGTH => 5000),
        'a body that was cut off', 400);
    check($d, ask($d, $_ => $uri), "$_ $uri", 405, head => $_ eq 'HEAD')
        for qw(GET HEAD PUT DELETE PATCH);
    check($d, ask($d, OPTIONS => $uri), "OPTIONS $uri", 204, no_row => 1);
}
for my $uri (qw(/v1/models /v1/models/demo /health /healthz /v1/health)) {
    check($d, ask($d, $_ => $uri), "$_ $uri", 200, no_row => 1)
        for qw(GET HEAD);
    check($d, ask($d, OPTIONS => $uri, undef,
            HTTP_ORIGIN => 'https://a.example'),
        "OPTIONS $uri", 204, no_row => 1);
    check($d, ask($d, POST => $uri, '{}'), "POST $uri", 405);
}
check($d, ask($d, GET => '/v1/models', undef, REMOTE_ADDR => '192.0.2.1'),
    'the list without a key', 401);
check($d, ask($d, GET => '/v1/models/x'), 'no such model', 404);
check($d, ask($d, $_ => '/v1/x'), "$_ of no route", 404, head => $_ eq 'HEAD')
    for qw(GET HEAD POST OPTIONS);
check($d, ask($d, GET => '/v1/models', undef, CONTENT_LENGTH => 'x'),
    'a length that is no number', 400);
check($d, ask($d, GET => '/v1/models', undef, REQUEST_METHOD => ''),
    'no method', 400);
check($d, ask($d, GET => '/v1/models', undef,
    map { ("HTTP_X_$_" => 'x') } 1 .. 2000), 'too many headers', 400);
is $d->stop, 0, 'ends well';

# 500, in JSON and behind the head of a stream
$d = Pen::Daemon->scripted(env => { PENSTOCK_FAIL_AFTER => 2 },
    args => { thinking => 'off' });
check($d, ask($d, POST => $chat, $hi), 'a failure', 500);
my $r = ask($d, POST => $chat, $hi =~ s/}$/,"stream":true}/r);
like $r->{body}, qr/"error":\{/, 'a failure in a stream';
check($d, $r, 'its head', 200);
is $d->stop, 0, 'ends well';

# 503 and 429: one runs, one may wait. What began to arrive first runs out of
# time first, though it was complete last.
$d = Pen::Daemon->scripted(args => { thinking => 'off', parallel => 1,
    'max-queue' => 1, 'request-timeout' => $ENV{PENSTOCK_SANITIZER} ? 10 : 4 },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });
my ($late, $rest) = half($d, $chat, $hi);
sleep 0.5;
my $busy = Pen::Fcgi->connect($d->{socket});
$busy->send_request(uri => $chat, body => $long);
ok $d->wait_load(1, 0), 'one runs';
$rest->();
ok $d->wait_load(1, 1), 'one waits';
check($d, ask($d, POST => $chat, $hi), 'a full queue', 503);
check($d, $late->response(20), 'a turn that never came', 429);
$busy->close;
is $d->stop, 0, 'ends well';

# 503 while the daemon drains
$d = Pen::Daemon->scripted(args => { thinking => 'off' },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });
$busy = Pen::Fcgi->connect($d->{socket});
$busy->send_request(uri => $chat, body => $long);
ok $d->wait_load(1, 0), 'one runs';
my @waiting = map { [ half($d, @$_) ] } [ $chat, $hi ], [ '/health', undef ];
$d->kill('TERM');
for (my $end = time + 30; $d->log_since !~ / drain open=/ && time < $end;) {
    sleep 0.02;
}
check($d, $waiting[0][1]->()->response(20), 'draining', 503);
check($d, $waiting[1][1]->()->response(20), 'health says so', 503,
    no_row => 1, head => 1);
$busy->close;
is $d->wait_end(30), 0, 'ends well';
done_testing;
