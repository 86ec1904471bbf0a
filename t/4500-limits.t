# Limits of keys over FastCGI: 429 with headers that hold, for requests and
# tokens per minute, tokens per day, requests at a time; changed without a
# restart, the day kept over one; and what the ledger shows.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Time::HiRes qw(sleep time);
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;
use Pen::Shell;

plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
plan skip_all => 'the sqlite3 shell is not installed'
    unless Pen::Shell::found('sqlite3');
my $penstock = Pen::Daemon::build() . '/penstock';
my ($chat, $text) = ('/v1/chat/completions', '/v1/completions');
my $json = JSON::PP->new->canonical;

# A completion of at most n tokens.
sub ask {
    my ($d, $key, $n, %o) = @_;
    my %more = %{ $o{more} // {} };
    return Pen::Fcgi->request($d->{socket}, timeout => 60,
        uri => $o{uri} // $text, params => { %{ $o{params} // {} },
            defined $key ? (HTTP_AUTHORIZATION => "Bearer $key") : () },
        body => $json->encode({ prompt => 'Hi', max_tokens => $n, %more }));
}

sub h { return $_[0]{headers}{"x-ratelimit-$_[1]"} }

sub refused {
    my ($r, $wait, $says, $name) = @_;
    my $e = error($r);
    is $r->{status}, 429, "$name: 429";
    is "$e->{type} $e->{code}", 'rate_limit_error rate_limit_exceeded',
        'its type and code';
    like $e->{message}, $says, 'the limit and when to come back';
    like $r->{headers}{'retry-after'} // 'none', $wait, 'Retry-After';
    return;
}

# Change limits, then wait until the daemon has seen it.
sub limit {
    my ($d, $name, $key, $header, $want, @options) = @_;
    my $out = `$penstock key limit $name @options --db $d->{db}`;
    is $out, "limited $name\n", "key limit $name @options";
    my $end = time + 30;
    while (time < $end) { # a request that fails costs nothing
        my $r = ask($d, $key, 0);
        return if (h($r, $header) // 'none') eq $want;
        sleep 0.05;
    }
    fail "the daemon did not see @options";
    return;
}

my $d = Pen::Daemon->scripted(args => { thinking => 'off', parallel => 8,
    'default-max-tokens' => 5 });
my $alice = $d->add_key('alice');
my $bob = $d->add_key('bob');
for (my $end = time + 30; time < $end;) {
    last if ask($d, $bob, 0)->{status} == 400;
    sleep 0.02;
}

# --- no limits, no headers
my $r = ask($d, $bob, 5);
is $r->{status}, 200, 'without limits';
is join(' ', grep { /ratelimit/ } sort keys %{ $r->{headers} }), '',
    'no such headers';

# --- requests per minute: a key that gets one back each second
limit($d, 'alice', $alice, 'limit-requests', 60, '--requests 60');
my $left = 60;
my $begin = time;
$r = ask($d, $alice, 2);
is $r->{status}, 200, 'the first of 60';
is h($r, 'limit-requests'), 60, 'the limit';
is h($r, 'remaining-requests'), 59, 'what is left';
like h($r, 'reset-requests'), qr/^(?:1s|\d{1,3}ms)$/, 'when all is back';
is h($r, 'limit-tokens'), undef, 'nothing about tokens';
$r = ask($d, $alice, 2, more => { stream => $yes });
like $r->{body}, qr/\[DONE\]/, 'a stream';
is h($r, 'remaining-requests') < 60, 1, 'has them in its head';
$r = ask($d, $alice, 'x');
is $r->{status}, 400, 'an error of the client';
is h($r, 'limit-requests'), 60, 'has them too';
my $ok = 0;
while (time - $begin < 50) {
    $r = ask($d, $alice, 1);
    last if $r->{status} != 200;
    $ok++;
}
refused($r, qr/^1$/, qr/this key may make 60 requests per minute.* in 1s/,
    'too many');
is h($r, 'remaining-requests'), 0, 'nothing is left';
cmp_ok $ok, '>=', 57, 'as many as it may';
sleep 1;
is ask($d, $alice, 1)->{status}, 200, 'a second later it is served';
is ask($d, $bob, 1)->{status}, 200, 'bob has no limit';
my @rows = $d->wait_rows("error_type = 'rate'");
is $rows[-1]{status}, 429, 'the ledger has the refusal';
is $rows[-1]{finish_reason}, 'refused', 'as one';
is $rows[-1]{key_id}, 1, 'of that key';

# --- tokens per minute: 100 a second
limit($d, 'alice', $alice, 'limit-tokens', 6000, '--requests none',
    '--tokens 6000');
$r = ask($d, $alice, 10, more => { prompt => [ (1) x 90 ] });
is $r->{status}, 200, '90 tokens and at most 10';
is h($r, 'limit-requests'), undef, 'requests are free now';
is h($r, 'limit-tokens'), 6000, 'tokens are not';
# one comes back every 10 ms
like h($r, 'remaining-tokens'), qr/^59[0-4]\d$/, 'what it used';
$r = ask($d, $alice, 4000, more => { stream => $yes });
cmp_ok h($r, 'remaining-tokens'), '<=', 2000,
    'the head of a stream has what it may take';
like h($r, 'reset-tokens'), qr/^(?:39|4[01])(?:\.\d+)?s$/, 'of a minute';
$d->wait_rows("max_tokens = 4000 AND state = 'done'");
$r = ask($d, $alice, 1);
cmp_ok h($r, 'remaining-tokens'), '>=', 5800,
    'what it did not take came back';
# now use them up for real: 60 prompts of 100 tokens less one second or so
for (1 .. 200) {
    $r = ask($d, $alice, 1, more => { prompt => [ (1) x 149 ] });
    last if $r->{status} != 200;
}
refused($r, qr/^[12]$/, qr/may use 6000 tokens per minute.* take 150 /,
    'no tokens left');
sleep $r->{headers}{'retry-after'};
is ask($d, $alice, 1, more => { prompt => [ (1) x 149 ] })->{status}, 200,
    'coming back when it says is served';
$r = ask($d, $alice, 3500, more => { n => 2 });
is $r->{status}, 429, 'larger than the limit: 429 as well';
like error($r)->{message}, qr/request too large.* 7001 .*6000 per minute/,
    'which says so';
is $r->{headers}{'retry-after'}, undef, 'no time to come back';
is $r->{headers}{'x-should-retry'}, 'false', 'and none of the clients tries';

# --- requests at a time
$d->stop;
$d = Pen::Daemon->scripted(dir => $d->{dir}, args => { thinking => 'off',
    parallel => 8 }, env => { PENSTOCK_GAP_US => 20_000,
    PENSTOCK_SCRIPT_LOOP => 1 });
limit($d, 'alice', $alice, 'limit-concurrent', 2, '--tokens none',
    '--concurrent 2');
my @busy = map { Pen::Fcgi->connect($d->{socket}) } 1, 2;
for my $f (@busy) {
    $f->send_request(uri => $text, body => $json->encode({ prompt => 'Hi',
            max_tokens => 3000, stream => $yes }),
        params => { HTTP_AUTHORIZATION => "Bearer $alice" });
    $f->response(30, qr/data: /);
}
$r = ask($d, $alice, 1);
refused($r, qr/^5$/, qr/may have 2 requests at a time/, 'a third');
is h($r, 'remaining-concurrent'), 0, 'as the header says';
is ask($d, $bob, 1)->{status}, 200, 'bob may';
$busy[0]->close;
$d->wait_rows("finish_reason = 'abandoned'");
is ask($d, $alice, 1)->{status}, 200, 'when one has left, it may';
$_->close for @busy;
$d->wait_rows("finish_reason = 'abandoned'", 2);
for (1 .. 3) {
    $r = ask($d, $alice, 2, more => { n => 3 });
}
is $r->{status}, 200, 'choices do not count';
is h($r, 'remaining-concurrent'), 2, 'what ended is free';
is $d->stop, 0, 'ends well';

# --- tokens per day, over a restart
$d = Pen::Daemon->scripted(dir => $d->{dir}, args => { thinking => 'off' });
my ($used) = `sqlite3 -readonly $d->{db} "SELECT tokens_today FROM
    limits_by_key WHERE key = 'alice'"` =~ /(\d+)/;
cmp_ok $used, '>', 6000, 'alice used some today';
my $day = $used + 50;
limit($d, 'alice', $alice, 'limit-tokens-day', $day, '--concurrent none',
    "--tokens-day $day");
SKIP: {
    my $until = 86400 - time % 86400;
    skip 'midnight is near', 9 if $until < 120;
    $r = ask($d, $alice, 5);
    is $r->{status}, 200, 'what the ledger has counts, 50 are left';
    my $more = whole($r)->{usage}{total_tokens};
    is h($r, 'remaining-tokens-day'), 50 - $more, 'to the token';
    like h($r, 'reset-tokens-day'), qr/^(?:\d+h)?(?:\d+m)?[\d.]+s$/,
        'until midnight';
    is $d->stop, 0, 'ends well';
    $d->run->wait_ready(60);
    $r = ask($d, $alice, 49);
    refused($r, qr/^\d\d+$/, qr/$day tokens per day.* @{[50 - $more]} are left/,
        'after a restart');
    my $wait = $r->{headers}{'retry-after'} - (86400 - time % 86400);
    cmp_ok abs $wait, '<=', 2, 'until midnight, in seconds';
    is $r->{headers}{'x-should-retry'}, 'false',
        'too long for a client that waits by itself';
}

# --- what an administrator sees
my ($list) = grep { /^alice/ } split /\n/, `$penstock key list --db $d->{db}`;
like $list, qr/ none +none +$day +none$/, 'key list';
my $view = JSON::PP::decode_json(scalar
    qx(sqlite3 -readonly -json $d->{db} "SELECT * FROM limits_by_key"));
is join(' ', map { $_->{key} } @$view), 'alice bob', 'the view';
is $view->[0]{tokens_per_day}, $day, 'has the limit';
is $view->[0]{requests_per_minute}, 0, '0 is none';
is $view->[1]{requests_per_minute}, undef, 'null is the default';
cmp_ok $view->[0]{refused_today}, '>=', 3, 'the refusals';
is $d->stop, 0, 'ends well';

# --- defaults, and requests without a key: they share one account
$d = Pen::Daemon->scripted(args => { thinking => 'off',
    'limit-requests' => 3, 'limit-tokens' => 5000,
    'cors-origin' => 'https://a.example' });
$r = ask($d, undef, 1);
is h($r, 'limit-requests') . ' ' . h($r, 'limit-tokens'), '3 5000',
    'the limits of penstock.conf';
ask($d, "token$_", 1) for 1, 2;
$r = ask($d, 'token3', 1, params => { HTTP_ORIGIN => 'https://a.example' });
refused($r, qr/^(?:1\d|20)$/, qr/without a key may make 3 requests per minute/,
    'whatever tokens they carry');
like $r->{headers}{'access-control-expose-headers'},
    qr/retry-after.*x-ratelimit-remaining-tokens-day/i,
    'pages of other origins may read the headers';
$r = Pen::Fcgi->request($d->{socket}, uri => '/v1/models');
is $r->{status}, 200, 'models are free';
like `$penstock key list --db $d->{db}`, qr/AT ONCE\n\z/, 'no keys';
`$penstock key add carol --requests none --tokens default --db $d->{db}`;
like `$penstock key list --db $d->{db}`,
    qr/^carol .* none +default +default +default$/m, 'key add with limits';
is $d->stop, 0, 'ends well';
done_testing;
