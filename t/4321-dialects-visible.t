# /v1/responses and /v1/messages where people look: the live view, /metrics, the
# ledger, the log; comment lines of a wait and of a prefill reach their clients;
# limits of keys hold and are told; going down, clients that leave and clients
# that do not read end as chat's do, in each protocol's own words.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Time::HiRes qw(sleep time);
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;
use Pen::Parts;
use Pen::Shell;

plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
plan skip_all => 'the sqlite3 shell is not installed'
    unless Pen::Shell::found('sqlite3');
my $json = JSON::PP->new->utf8->canonical;
my @wires = ('responses', 'messages');
my %off = (responses => { reasoning => { effort => 'none' } },
    messages => { thinking => { type => 'disabled' } });

sub body {
    my ($wire, $tokens, %more) = @_;
    return { %{ $off{$wire} }, $wire eq 'messages'
            ? (messages => [ { role => 'user', content => 'Hi' } ],
                max_tokens => $tokens)
            : (input => 'Hi', max_output_tokens => $tokens), %more };
}

sub stream { my ($d, $wire, $n) = @_;
    return send_ask($d, $wire, body($wire, $n, stream => $yes)) }

sub get {
    my ($d, $uri) = @_;
    return Pen::Fcgi->request($d->{socket}, uri => $uri, timeout => 30)->{body};
}

sub live { return $json->decode(get($_[0], '/v1/dashboard/live?follow=0')) }

# --- one runs, one waits ------------------------------------------------------
my $d = Pen::Daemon->scripted(args => { parallel => 1, thinking => 'off',
    'wait-line-ms' => 100, 'prefill-line-ms' => 100 }, env => {
    PENSTOCK_SCRIPT_LOOP => 1, PENSTOCK_GAP_US => 20_000,
    PENSTOCK_PREFILL_US => 500_000 });
for my $wire (@wires) {
    my $one = stream($d, $wire, 40);
    ok $d->wait_load(1, 0, 30), "$wire: one runs";
    my $two = stream($d, $wire, 3);
    ok $d->wait_load(1, 1, 30), "$wire: one waits";
    my $now = live($d);
    like join(' ', map { "$_->{endpoint} $_->{stream} $_->{phase}" }
        grep { $_->{phase} ne 'done' } @{ $now->{requests} }),
        qr/^$wire 1 (?:prefill|decode) $wire 1 queued$/,
        "$wire: both are in view";
    my ($first, $second) = map { parts_of($wire, $_->response(60)) } $one, $two;
    is $_->{bad}, '', "$wire: a good stream" for $first, $second;
    ok((grep { /^: prefill/ } @{ $first->{comments} }),
        "$wire: its prefill was told");
    ok((grep { /^: waiting, position 1/ } @{ $second->{comments} }),
        "$wire: so was its wait") or diag $second->{raw};
    like $second->{raw}, qr/^: waiting.*^: prefill.*\bone\b/ms,
        "$wire: before its text";
    my ($row) = $d->wait_rows("request_id = '$first->{id}' "
        . "AND state <> 'open'");
    is "@$row{qw(endpoint stream state status finish_reason)}",
        "$wire 1 done 200 length", "$wire: its row";
    is $row->{completion_tokens}, 40, "$wire: with its tokens";
    like $d->log, qr/\bid=\Q$first->{id}\E stream=$wire model="demo" status=200 prompt=\d+ completion=40 /,
        "$wire: its line in the log";
    my ($seen) = grep { $_->{request_id} eq $first->{id} }
        @{ live($d)->{recent} };
    is "$seen->{endpoint} $seen->{tokens} $seen->{finish_reason}",
        "$wire 40 length", "$wire: as the view remembers it";
    my $whole = parts_of($wire, send_ask($d, $wire, body($wire, 2))
        ->response(60));
    is $whole->{status}, 200, "$wire: whole";
    like $d->log, qr/\bid=\Q$whole->{id}\E json=$wire /, "$wire: in the log";
    my $bad = send_ask($d, $wire, body($wire, 'x'))->response(60);
    is $bad->{status}, 400, "$wire: a wrong one";
    ($row) = $d->wait_rows("endpoint = '$wire' AND status = 400");
    is $row->{finish_reason}, 'refused', "$wire: has a row too";
}
my %count = ('/v1/messages/count_tokens' => body('messages', 1),
    '/v1/responses/input_tokens' => { input => 'Hi' });
for my $uri (sort keys %count) {
    my $r = Pen::Fcgi->request($d->{socket}, uri => $uri, timeout => 30,
        body => $json->encode($count{$uri}));
    is $r->{status}, 200, $uri or diag $r->{body};
    cmp_ok $json->decode($r->{body})->{input_tokens}, '>', 0, 'counts';
}
is_deeply [ $d->rows("endpoint = 'count_tokens'") ], [], 'a count has no row';
my $page = get($d, '/metrics');
like $page, qr/^penstock_http_requests_total\{route="$_->[0]",code="$_->[1]"\} $_->[2]$/m,
    "/metrics: $_->[0] $_->[1]" for map({ ([ $_, 200, 3 ], [ $_, 400, 1 ]) }
    @wires), [ 'count_tokens', 200, 2 ];
like $page, qr/^penstock_requests_total\{finish_reason="length"\} 6$/m,
    'all that ended are counted';
is $d->stop, 0, 'the daemon ends well';

# --- who leaves ---------------------------------------------------------------
$d = Pen::Daemon->scripted(args => { thinking => 'off', context => 200_000,
    'drain-timeout' => 1, parallel => 8 }, env => {
    PENSTOCK_SCRIPT_LOOP => 1, PENSTOCK_GAP_US => 100 });
my @stalled = map { stream($d, $_, 100_000) } @wires; # never read
for my $wire (@wires) {
    my $f = stream($d, $wire, 100_000);
    ok $f->response(30, qr/\bfour\b/), "$wire: under way";
    $f->close;
    my ($row) = $d->wait_rows("endpoint = '$wire' AND finish_reason = "
        . "'abandoned'", 1, 30);
    ok $row && $row->{completion_tokens} > 0, "$wire: a client left"
        or diag $json->encode([ $d->rows ]);
    ($row) = $d->wait_rows("endpoint = '$wire' AND finish_reason = "
        . "'slow_client'", 1, 30);
    ok $row && $row->{completion_tokens} > 0, "$wire: one never read";
}
$_->close for @stalled;

# --- limits -------------------------------------------------------------------
my $key = $d->add_key('alice');
my %auth = (responses => { HTTP_AUTHORIZATION => "Bearer $key" },
    messages => { HTTP_X_API_KEY => $key });
my $bin = Pen::Daemon::build() . '/penstock';
system("$bin key limit alice --requests 6 --db $d->{db} >/dev/null") == 0
    or die 'key limit';
sub h { return $_[0]{headers}{"x-ratelimit-$_[1]"} }
for (my $end = time + 30; time < $end; sleep 0.05) {
    last if h(send_ask($d, 'responses', body('responses', 'x'),
        $auth{responses})->response(30), 'limit-requests');
}
my $left = 6;
for my $wire (@wires) {
    for my $stream ($no, $yes) {
        my $r = send_ask($d, $wire, body($wire, 2, stream => $stream),
            $auth{$wire})->response(30);
        is "$r->{status} " . (h($r, 'limit-requests') // 'none') . ' '
            . (h($r, 'remaining-requests') // 'none'), '200 6 ' . --$left,
            "$wire, stream $stream: what is left";
    }
    my $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/messages/count_tokens',
        params => $auth{$wire}, body => $json->encode(body('messages', 1)));
    is $r->{status}, 200, 'a count takes none';
}
send_ask($d, 'messages', body('messages', 1), $auth{messages})->response(30)
    for 1 .. 2;
for my $wire (@wires) {
    my $r = send_ask($d, $wire, body($wire, 2), $auth{$wire})->response(30);
    my $e = $json->decode($r->{body});
    is "$r->{status} $e->{error}{type} " . ($e->{type} // '-'),
        '429 rate_limit_error ' . ($wire eq 'messages' ? 'error' : '-'),
        "$wire: over its limit, in its words";
    like $r->{headers}{'retry-after'} // 'none', qr/^\d+$/, "$wire: Retry-After";
    my ($row) = $d->wait_rows("endpoint = '$wire' AND error_type = 'rate'");
    is "$row->{status} $row->{key_id}", '429 1', "$wire: its row";
}

# --- going down ---------------------------------------------------------------
is $d->stop, 0, 'the daemon ends well';
$d = Pen::Daemon->scripted(args => { thinking => 'off', context => 200_000,
    'drain-timeout' => 1 }, env => { PENSTOCK_SCRIPT_LOOP => 1,
    PENSTOCK_GAP_US => 20_000 });
my @open = map { stream($d, $_, 3000) } @wires;
ok $d->wait_load(2, 0, 30), 'two streams run';
sleep 0.2;
$d->kill('TERM');
my %end = (responses => qr/^error server_\w+$/,
    messages => qr/^error overloaded_error$/);
for my $i (0, 1) {
    my $wire = $wires[$i];
    my $p = parts_of($wire, $open[$i]->response(30));
    is $p->{bad}, '', "$wire: cut by the rules";
    like $p->{end}, $end{$wire}, "$wire: with its own error";
    like $p->{raw}, qr/" four"/, "$wire: behind what was written";
}
is $d->wait_end(30), 0, 'the daemon ends well';
is_deeply [ map { "@$_{qw(endpoint state error_type)}" }
    $d->rows("finish_reason = 'error'") ],
    [ map { "$_ failed draining" } @wires ], 'their rows';
done_testing;
