# Case C01: deep nesting, broken JSON and an empty body against the daemon:
# 400 at once, memory where it was, and the same process answers the next
# request. (t/4101 has the limits.)
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;
use Pen::Daemon;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my $uri = '/v1/chat/completions';
my $hi = '"model":"demo","messages":[{"role":"user","content":"hi"}],'
    . '"max_tokens":1';
my %body = (
    'a: 10,000 levels in an unknown field' =>
        "{$hi,\"x\":" . '[' x 10_000 . '0' . ']' x 10_000 . '}',
    'b: 3,000 levels in tools' =>
        "{$hi,\"tools\":" . '[' x 3_000 . ']' x 3_000 . '}',
    'c: a member without a name' => '{:"model":"demo"}',
    'd: an empty body' => '',
    'twenty million open brackets' => '[' x 20_000_000,
    'a million open objects' => '{"a":' x 1_000_000,
);
my $post = sub {
    return Pen::Fcgi->request($d->{socket}, uri => $uri, body => $_[0],
        timeout => 60);
};
is $post->("{$hi}")->{status}, 200, 'an ordinary request';
is $post->("{$hi,\"x\":" . '[' x 64 . '0' . ']' x 64 . '}')->{status}, 200,
    '64 levels in an unknown field are accepted';
$post->($_) for values %body; # memory of a first time
my ($memory, $steps) = ($d->proc('VmRSS'), $d->health->{steps});
my $rows = () = $d->wait_rows('1', 2 + keys %body);
for my $name (sort keys %body) {
    my $from = $d->cpu;
    my $r = $post->($body{$name});
    cmp_ok $d->cpu - $from, '<', 1 * ($ENV{PENSTOCK_SANITIZER} ? 20 : 1),
        "$name: at once";
    is $r->{status}, 400, 'refused';
    is error($r)->{type}, 'invalid_request_error', 'type';
    cmp_ok length $r->{body}, '<', 1024, 'a short body';
}
SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    my $end = time + 10;
    select undef, undef, undef, 0.02
        while $d->proc('VmRSS') > $memory + 8_000 && time < $end;
    cmp_ok $d->proc('VmRSS'), '<=', $memory + 8_000, 'memory is where it was';
}
is_deeply $d->health->{steps}, $steps, 'no token was generated';
is scalar(my @all = $d->wait_rows('1', $rows + keys %body)),
    $rows + keys %body, 'a row each';
ok $d->alive, 'the same process';
is $post->("{$hi}")->{status}, 200, 'answers the next request';
is $d->stop, 0, 'ends well';
done_testing;
