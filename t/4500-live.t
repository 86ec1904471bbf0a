# What runs now, seen over the daemon's own socket: states come in order, counts
# add up, streams of the view are at most four, and no word of a prompt or an
# answer is on any page.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Daemon;
use Pen::Fcgi;
use Pen::Http;

my ($canary, $reply) = ('zebrafish-5517-marzipan', 'heliotrope-9921-quokka');
my $d = Pen::Daemon->scripted(args => { parallel => 1, thinking => 'off' }, env => {
    PENSTOCK_SCRIPT => "$reply ", PENSTOCK_SCRIPT_LOOP => 1,
    PENSTOCK_GAP_US => 20_000, PENSTOCK_PREFILL_US => 400_000 });
my $json = JSON::PP->new->utf8;
my $live = '/v1/dashboard/live';
my $pages = '';

sub get {
    my ($uri, %params) = @_;
    my $r = Pen::Fcgi->request($d->{socket}, uri => $uri, timeout => 30,
        params => \%params);
    $pages .= $r->{body};
    return $r;
}

sub look { return $json->decode(get("$live?follow=0")->{body}) }

sub ask {
    my ($tokens) = @_;
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => '/v1/chat/completions',
        body => Pen::Http::json(Pen::Http::chat($tokens, messages => [
            { role => 'user', content => $canary } ])));
    return $f;
}

sub watch {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => $live);
    return $f;
}

# The events of a stream so far: [id, object].
sub events {
    my ($out) = @_;
    return map { [ /^id: (\d+)$/m, $json->decode((/^data: (.*)$/m)[0]) ] }
        $out =~ /^(event: live\nid: \d+\ndata: [^\n]*)\n\n/mg;
}

my $idle = look();
is $idle->{engine}{state}, 'idle', 'nothing runs';
is_deeply $idle->{requests}, [], 'no row';

# --- one request from its arrival to its end, on a stream of the view
my $w = watch();
my $r = $w->response(20, qr/\n\n/);
is $r->{status}, 200, 'a stream';
is $r->{headers}{'content-type'}, 'text/event-stream; charset=utf-8', 'type';
my @first = events($r->{body});
ok $first[0][1]{history}, 'the first event has a history';
my $one = ask(15);
$r = $w->response(60, qr/"phase":"done"/);
my @seen = events($r->{out});
my (%order, @order);
for my $e (@seen) {
    my ($row) = @{ $e->[1]{requests} } or next;
    push @order, $row->{activity}{state}
        unless $order{ $row->{activity}{state} }++;
}
is_deeply [ grep { /^(?:prefilling|writing)$/ } @order ],
    [ 'prefilling', 'writing' ], 'prefill, then text';
ok !(grep { $_->[1]{history} } @seen), 'later events have none';
my @ids = map { $_->[0] } @first, @seen;
is_deeply [ sort { $a <=> $b } @ids ], \@ids, 'ids ascend';
is_deeply [ grep { $_->[0] != $_->[1]{seq} } @first, @seen ], [],
    'and are the objects\' own';
my $end = $one->response(60);
my ($id) = $end->{headers}{'x-request-id'};
my ($row) = grep { $_->{request_id} eq $id } @{ look()->{recent} };
is $row->{phase}, 'done', 'it is among those that ended';
is $row->{tokens}, 15, 'with its tokens';
is $row->{finish_reason}, 'length', 'and its end';
is_deeply [ map { $_->{state} } @{ $row->{timeline} } ],
    [qw(queued prefilling writing done)], 'its whole way';
$d->wait_rows("request_id = '$id' AND state <> 'open'");
my ($ledger) = $d->rows("request_id = '$id'");
is $row->{prompt_tokens}, $ledger->{prompt_tokens}, 'as the ledger has it';

# --- waiting
my @busy = ask(4000);
ok $d->wait_load(1, 0, 30), 'one runs'; # handlers race: one by one
push @busy, ask(4000);
ok $d->wait_load(1, 1, 30), 'one runs, one waits';
my $now = look();
is $now->{counts}{in_flight}, 2, 'both are there';
is $now->{counts}{queued}, 1, 'one of them in the queue';
my ($waits) = grep { $_->{phase} eq 'queued' } @{ $now->{requests} };
like $waits->{activity}{label}, qr/^Queued, about 1st in line: the slot is busy$/,
    'and it says why';
my $lanes = $json->decode(get('/v1/dashboard/lanes')->{body});
is scalar @{ $lanes->{slots} }, 1, 'one slot';
is $lanes->{queued}[0]{position}, 1, 'one in line';
$busy[0]->response(30, qr/"content":"h/);
$busy[1]->close;
ok $d->wait_load(1, 0, 30), 'who waits leaves';
$busy[0]->close;
ok $d->wait_load(0, 0, 30), 'and who runs';
for my $try (1 .. 500) { # their rows close just after
    $now = look();
    last if !$now->{counts}{in_flight};
    select undef, undef, undef, 0.01;
}
is_deeply [ sort map { $_->{activity}{stop}{detail} }
    @{ $now->{recent} }[ 0, 1 ] ], [ 'left_while_queued', 'write_failed' ],
    'one left the queue, the other its answer';

# --- at most four streams
my @more = map { watch() } 2 .. 4;
is $_->response(20, qr/\n\n/)->{status}, 200, 'another' for @more;
my $fifth = Pen::Fcgi->request($d->{socket}, uri => $live, timeout => 20);
is $fifth->{status}, 429, 'the fifth is refused';
is $json->decode($fifth->{body})->{error}{type}, 'rate_limit_error', 'so';
(pop @more)->close;
my $again;
for my $try (1 .. 500) { # the daemon sees it leave
    my $f = watch();
    $again = $f->response(20, qr/\n\n/);
    push @more, $f and last if $again->{status} == 200;
    select undef, undef, undef, 0.01;
}
is $again->{status}, 200, 'a stream that was closed made room';

# --- who may look
my %remote = (REMOTE_ADDR => '192.0.2.1');
for my $uri ($live, "$live?follow=0", '/v1/dashboard/lanes', '/metrics',
    '/v1/cache/stats') {
    is get($uri, %remote)->{status}, 404, "$uri: not for strangers";
}
is get('/metrics/up', %remote)->{body} =~ /^penstock_up 1$/m, 1,
    '/metrics/up is for anybody';
my $key = $d->add_key('watcher');
is get('/metrics', %remote, HTTP_AUTHORIZATION => "Bearer $key")->{status},
    200, 'a key opens them';
is get('/metrics', %remote, HTTP_AUTHORIZATION => 'Bearer no')->{status},
    404, 'a wrong one does not';

# --- figures
my $m = get('/metrics')->{body};
like $m, qr/^penstock_requests_total\{finish_reason="length"\} 1$/m, 'ends';
like $m, qr/^penstock_requests_total\{finish_reason="abandoned"\} 2$/m,
    'and leavers';
SKIP: {
    my ($tool) = grep { -x } map { "$_/promtool" } split /:/, $ENV{PATH};
    skip 'no promtool', 1 unless $tool;
    open my $p, '|-', "$tool check metrics >$d->{dir}/prom 2>&1" or die;
    print $p $m;
    close $p;
    open my $in, '<', "$d->{dir}/prom" or die;
    my @said = grep { !/non-histogram|_total|base unit|abbreviated|^$/ } <$in>;
    is_deeply \@said, [], 'promtool reads the page';
}
get('/v1/cache/stats');
get('/health');
$pages .= $_->response(1, qr/\n\n/)->{out} // '' for $w, @more;
unlike $pages, qr/\Q$canary\E|zebrafish|marzipan/, 'no word of a prompt';
unlike $pages, qr/heliotrope|quokka/, 'no word of an answer';

# --- open streams do not keep it from ending
is $d->stop, 0, 'ends well, and at once';
done_testing;
