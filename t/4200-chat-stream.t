# One streamed chat request seen from outside: the daemon with the demo model,
# FastCGI by hand. The same question whole gives the same text; the ledger has
# the numbers that the client saw. Cases C05, C06, C11, C30 and C32 on the
# real engine (t/unit/api_chat.c has their details on a script).
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Daemon;

plan skip_all => 'no penstockd: make first'
    unless -x Pen::Daemon::build() . '/penstockd';
plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my $json = JSON::PP->new->utf8->canonical;
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my ($yes, $no) = (JSON::PP::true, JSON::PP::false);

sub ask {
    my ($uri, %body) = @_;
    return Pen::Fcgi->request($d->{socket}, uri => $uri, timeout => 60,
        body => $json->encode(\%body));
}

sub chat {
    my ($text, %more) = @_;
    return ask('/v1/chat/completions', temperature => 0,
        messages => [ { role => 'user', content => $text } ], %more);
}

sub whole { return $json->decode($_[0]{body}) }

# Join a stream as clients do.
sub joined {
    my ($r) = @_;
    my %j = (content => '', reasoning => '', done => 0, finish => []);
    for my $event (split /\n\n/, $r->{body}) {
        next if $event =~ /^:/;
        my ($data) = $event =~ /^data: (.*)\z/ or return;
        $j{done}++, next if $data eq '[DONE]';
        my $c = $json->decode($data);
        push @{ $j{chunks} }, $c;
        $j{usage} = $c->{usage} if $c->{usage};
        my $choice = $c->{choices}[0] or next;
        $j{content} .= $choice->{delta}{content} // $choice->{text} // '';
        $j{reasoning} .= $choice->{delta}{reasoning_content} // '';
        push @{ $j{finish} }, $choice->{finish_reason} // ();
    }
    return \%j;
}

# --- the story -------------------------------------------------------------
my $question = 'What is the capital of France?';
my $r = chat($question, stream => $yes,
    stream_options => { include_usage => $yes });
my $s = joined($r);
is $r->{status}, 200, 'a stream';
like $r->{headers}{'content-type'}, qr{^text/event-stream}, 'its type';
is $r->{headers}{'x-accel-buffering'}, 'no', 'not to be buffered';
is $s->{chunks}[0]{choices}[0]{delta}{role}, 'assistant', 'role first';
is_deeply $s->{finish}, ['stop'], 'one finish reason';
is $s->{done}, 1, '[DONE] once';
like $s->{content}, qr/Paris/, 'the model knows it';
my ($row) = $d->rows("request_id = '$s->{chunks}[0]{id}'");
is $row->{state}, 'done', 'its row is there when [DONE] is';
is $row->{$_}, $s->{usage}{$_}, "$_ as the client saw"
    for qw(prompt_tokens completion_tokens);
my $w = whole(chat($question));
is $w->{choices}[0]{message}{content}, $s->{content}, 'the same text whole';
is_deeply $w->{usage}, $s->{usage}, 'the same usage';
is $w->{system_fingerprint}, $s->{chunks}[0]{system_fingerprint},
    'the same fingerprint';
my $t = $w->{timings};
cmp_ok abs($t->{queue_ms} + $t->{prompt_ms} - $t->{ttft_ms}), '<', 0.001,
    'ttft = queue + prompt';

# --- cases -------------------------------------------------------------------
my $mixed = "Hi \x{1F469}\x{1F3FD}\x{200D}\x{1F680} \x{17C}\x{F3}\x{142}w "
    . "\x{6F22}\x{5B57}";
my %forced = (structured_outputs => { choice => [$mixed] });
is joined(chat('Hi', %forced, stream => $yes))->{content}, $mixed,
    'case C05: streamed';
is whole(chat('Hi', %forced))->{choices}[0]{message}{content}, $mixed,
    'case C05: whole';
my $many = "\x{6F22}" x 64;
for my $n (1, 2, 3, 7) {
    my $c = whole(chat('Hi', max_tokens => $n,
        structured_outputs => { choice => [$many] }));
    my $got = $c->{choices}[0]{message}{content};
    is $got, substr($many, 0, length $got), "case C06: $n tokens, whole"
        . ' characters';
    is $c->{usage}{completion_tokens}, $n, 'case C06: every token counts';
}
my $fox = 'The quick brown fox jumps';
for my $stop ([ 'own fox', 'The quick br' ], [ 'own cat', $fox ]) {
    my %o = (structured_outputs => { choice => [$fox] },
        stop => [ $stop->[0] ]);
    is joined(chat('Hi', %o, stream => $yes))->{content}, $stop->[1],
        "case C11: chat, streamed, $stop->[0]";
    is whole(ask('/v1/completions', prompt => 'Hi', %o))->{choices}[0]{text},
        $stop->[1], "case C11: completions, whole, $stop->[0]";
}

my %title = (reasoning_effort => 'high', max_tokens => 5);
$s = joined(chat($question, %title, stream => $yes));
$w = whole(chat($question, %title));
is $s->{content}, '', 'case C30: no content yet';
isnt $s->{reasoning}, '', 'case C30: a thought';
is $w->{choices}[0]{message}{reasoning_content}, $s->{reasoning},
    'case C30: the same whole';
is $w->{usage}{completion_tokens_details}{reasoning_tokens}, 5,
    'case C30: where the budget went';
is $w->{choices}[0]{finish_reason}, 'length', 'case C30: length';

my %three = (n => 3, temperature => 1, seed => 7, max_tokens => 40);
my @texts = map {
    my $c = whole(chat('Tell me a long story about a fox named Ida.',
        %three));
    is_deeply [ map { $_->{index} } @{ $c->{choices} } ], [ 0, 1, 2 ],
        'case C32: three choices';
    [ map { $_->{message}{content} } @{ $c->{choices} } ];
} 1, 2;
my %distinct = map { $_ => 1 } @{ $texts[0] };
cmp_ok scalar(keys %distinct), '>', 1, 'case C32: not all equal';
is_deeply $texts[1], $texts[0], 'case C32: repeatable';

# Prompts far over the context are refused long before they are encoded; in
# the daemon's processor time, which a busy machine does not stretch.
my $memory = $d->proc('VmRSS');
for my $word ('a', '\n', 'word ') {
    my $body = '{"messages":[{"role":"user","content":"'
        . $word x (20_000_000 / length $word) . '"}]}';
    my $from = $d->cpu;
    $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/chat/completions',
        body => $body, timeout => 60);
    my $e = whole($r)->{error};
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
$r = whole(ask('/v1/completions', prompt => [ (5) x 100_000 ]));
like $r->{error}{message}, qr/^prompt: .* 4096 tokens, .* 100000 tokens/,
    'so are ids';

is $d->stop, 0, 'the daemon ends well';
done_testing;
