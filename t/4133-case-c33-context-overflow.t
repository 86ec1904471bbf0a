# Case C33: a prompt that does not fit is a 400 that agents know: its code,
# the words "maximum context length", the limit and the prompt's size. It is
# said before a byte of a stream, and before queueing.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off', context => 128 });
my $context = $d->health->{context};

# Chat content of so many tokens that the whole prompt has $n.
sub chat_of {
    my ($n) = @_;
    my $of = sub { (messages => [ { role => 'user',
        content => 'a' . ' a' x $_[0] } ]) };
    my ($base, $more) = map { whole(chat($d, $of->($_), max_tokens => 1))
        ->{usage}{prompt_tokens} } 0, 10;
    die "' a' is not one token" unless $more - $base == 10;
    return $of->($n - $base);
}

for my $over (100, 0, 1, 20_000) {
    my $n = $context + $over;
    for my $ask ([ messages => \&chat, chat_of($n) ],
        [ prompt => \&text, prompt => [ (97) x $n ] ]) {
        my ($param, $do, @body) = @$ask;
        for my $stream ($no, $yes) {
            my $steps = $d->health->{steps};
            my $r = $do->($d, @body, stream => $stream);
            my $name = "$param of $n tokens" . ($stream ? ', streamed' : '');
            is $r->{status}, 400, "$name: 400";
            like $r->{headers}{'content-type'}, qr{^application/json}, 'JSON';
            my $e = error($r);
            is $e->{type}, 'invalid_request_error', 'type';
            is $e->{code}, 'context_length_exceeded', 'code';
            is $e->{param}, $param, 'param';
            like $e->{message}, qr/maximum context length/, 'the words';
            like $e->{message}, qr/\b$context\b/, 'the maximum';
            like $e->{message}, qr/\b$n\b/, "the prompt's count";
            is_deeply $d->health->{steps}, $steps, 'the engine had no work';
            my ($row) = $d->wait_rows(
                "request_id = '$r->{headers}{'x-request-id'}'");
            is "$row->{state} $row->{status} $row->{finish_reason}",
                'done 400 refused', 'its row';
        }
    }
}
my $fits = whole(chat($d, chat_of($context - 1)));
is "$fits->{status} $fits->{usage}{completion_tokens} $fits->{finish}",
    '200 1 length', 'the longest that fits leaves room for one token';

# 20 MB of one word are refused long before they are encoded; in the daemon's
# processor time, which a busy machine does not stretch.
my $memory = $d->proc('VmRSS');
for my $word ('a', '\n', 'word ') {
    my $body = '{"messages":[{"role":"user","content":"'
        . $word x (20_000_000 / length $word) . '"}]}';
    my $from = $d->cpu;
    my $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/chat/completions',
        body => $body, timeout => 60);
    my $e = error($r);
    is "$r->{status} $e->{param} $e->{code}",
        '400 messages context_length_exceeded', '20 MB of one word';
    cmp_ok $d->cpu - $from, '<', 2 * ($ENV{PENSTOCK_SANITIZER} ? 10 : 1),
        'refused at once';
}
SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    my $end = time + 20;
    select undef, undef, undef, 0.05
        while $d->proc('VmRSS') > $memory + 60_000 && time < $end;
    cmp_ok $d->proc('VmRSS'), '<', $memory + 60_000,
        'and what they took was given back';
}
is $d->stop, 0, 'ends well';

# Before queueing: the place that a full queue has not is not asked for.
$d = Pen::Daemon->scripted(args => { thinking => 'off', parallel => 1,
    'max-queue' => 0, context => 512 },
    env => { PENSTOCK_GAP_US => 20_000, PENSTOCK_SCRIPT_LOOP => 1 });
my $busy = Pen::Fcgi->connect($d->{socket});
$busy->send_request(uri => '/v1/completions',
    body => '{"prompt":"a","max_tokens":500,"stream":true}');
ok $d->wait_load(1, 0), 'the engine is busy, and nobody may wait';
is text($d)->{status}, 503, 'an ordinary request is refused';
for my $r (text($d, prompt => [ (97) x 612 ]),
    text($d, prompt => [ (97) x 612 ], stream => $yes),
    chat($d, messages => [ { role => 'user', content => 'word ' x 700 } ])) {
    is "$r->{status} " . error($r)->{code}, '400 context_length_exceeded',
        'a long one learns that it never fits';
}
$busy->close;
is $d->stop, 0, 'ends well';
done_testing;
