# Reasoning end to end, on the real engine: how it reaches the client, who ends
# it, and that whoever asks for nothing gets what the model alone would say.
# Expectations: spec tandem.md 2, 3 and checks 55-59, 62, 93-96 and 98; case
# C30 in both modes. (t/unit/api_reasoning.c and api_budget.c have the details
# on a script.)
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
my ($yes, $no) = (JSON::PP::true, JSON::PP::false);
my $says = "That is enough thought; the answer follows.";
my $d;

sub chat {
    my (%more) = @_;
    my $r = Pen::Fcgi->request($d->{socket}, timeout => 120,
        uri => '/v1/chat/completions', body => $json->encode({
            temperature => 0, messages => [ { role => 'user',
                content => 'What is the capital of France?' } ], %more }));
    return $r;
}

# What a client has at the end, whole or streamed.
sub whole {
    my $r = chat(@_);
    my $v = $json->decode($r->{body});
    my $c = $v->{choices}[0];
    return { status => $r->{status}, error => $v->{error},
        content => $c->{message}{content},
        reasoning => $c->{message}{reasoning_content} // '',
        finish => $c->{finish_reason}, usage => $v->{usage},
        tool_calls => $c->{message}{tool_calls} };
}

sub streamed {
    my $r = chat(@_, stream => $yes);
    my %j = (content => '', reasoning => '', order => '');
    for my $event (split /\n\n/, $r->{body}) {
        my ($data) = $event =~ /^data: (\{.*)\z/ or next;
        my $c = $json->decode($data);
        $j{usage} = $c->{usage} if $c->{usage};
        $j{id} = $c->{id};
        my $choice = $c->{choices}[0] or next;
        for my $part (qw(reasoning_content content)) {
            my $text = $choice->{delta}{$part} // next;
            next if $text eq '';
            $j{order} .= $part eq 'content' ? 'c' : 'r';
            push @{ $j{$part eq 'content' ? 'said' : 'thought'} }, $text;
            $j{$part eq 'content' ? 'content' : 'reasoning'} .= $text;
        }
        $j{finish} = $choice->{finish_reason} if $choice->{finish_reason};
    }
    return \%j;
}

sub reasoning_tokens {
    return $_[0]{usage}{completion_tokens_details}{reasoning_tokens};
}

# --- forms -----------------------------------------------------------------
$d = Pen::Daemon->start;
my %cap = (max_reasoning_tokens => 3, max_tokens => 60);
my %by;
for my $form (qw(reasoning_content tags both)) {
    my ($w, $s) = map { $_->(%cap, reasoning_format => $form) }
        \&whole, \&streamed;
    is $s->{$_}, $w->{$_}, "$form: streamed and whole, the same $_"
        for qw(content reasoning finish);
    $by{$form} = $s;
}
my ($thought, $answer) = @{ $by{reasoning_content} }{qw(reasoning content)};
like $thought, qr/\Q$says\E\z/, 'check 57: the thought in its field';
unlike $answer, qr/^\n|<\/?think>/, 'check 57: the answer from its first'
    . ' character, without tags';
isnt $answer, '', 'which is there';
is $by{tags}{reasoning}, '', 'check 56: no field with tags';
is $by{tags}{content}, "<think>\n$thought\n</think>\n\n$answer",
    'check 56: the block, then the answer';
like $by{tags}{said}[0], qr/^<think>\n./s,
    'check 56: the opener with the first text';
is $by{both}{reasoning}, $thought, 'check 58: both: the field';
is $by{both}{content}, $by{tags}{content}, 'check 58: and the tags';
like $by{both}{order}, qr/^(rc)+c*\z/, 'check 58: first the reasoning, then'
    . ' its copy';
like $by{both}{thought}[0], qr/^[^<]/, 'check 58: no tag in the field';
my $none = whole(reasoning_format => 'xml', max_tokens => 1);
is "$none->{status} $none->{error}{param}", '400 reasoning_format',
    'an unknown form is refused';

# --- budgets ---------------------------------------------------------------
for my $shape ({ thinking_budget => 3 },
    { thinking => { type => 'enabled', budget_tokens => 3 } },
    { reasoning => { max_tokens => 3, effort => 'high' } },
    { thinking_token_budget => 3, reasoning_effort => 'max' }) {
    my $w = whole(max_tokens => 60, %$shape);
    is_deeply [ @$w{qw(reasoning content)} ], [ $thought, $answer ],
        'checks 62, 94: the same text for ' . $json->encode($shape);
}
my $line = ($d->log =~ /(.*\Qthink=budget\E.*)/)[0] // '';
like $line, qr/finish=/, 'the log line of the request says who ended it';
unlike $d->log, qr/enough thought/, 'and no text is in the log';
my $more = whole(%cap, max_reasoning_tokens => 4);
is reasoning_tokens($more), reasoning_tokens($by{tags}) + 1,
    'check 62: one token more is one token more';
for my $bad ([ thinking_budget => -1 ], [ reasoning_effort => 'huge' ],
    [ thinking_effort => 'tiny' ]) {
    my $w = whole(@$bad);
    is "$w->{status} $w->{error}{param}", "400 $bad->[0]",
        "check 93: $bad->[0]";
}
my %off = (chat_template_kwargs => { enable_thinking => $no },
    enable_thinking => $yes, reasoning_effort => 'high', max_tokens => 60);
my $w = whole(%off);
is $w->{reasoning}, '', 'check 95: the inner field decides';
is reasoning_tokens($w), 0, 'check 95: no reasoning tokens';

# --- nobody asked ----------------------------------------------------------
my %long = (max_tokens => 200, logprobs => $yes, reasoning_format => 'tags');
my $plain = $json->decode(chat(%long)->{body})->{choices};
is whole(%long, max_reasoning_tokens => 0, max_tokens => 200)->{content},
    $plain->[0]{message}{content}, 'check 93: a budget of 0 is none';
is $d->stop, 0, 'the daemon ends well';
$d = Pen::Daemon->start(args => { 'think-stall' => 'off',
    'answer-reserve' => 0 });
is_deeply $json->decode(chat(%long)->{body})->{choices}, $plain,
    'nobody asked: token for token as without the feature';
is $d->stop, 0, 'the daemon ends well';

# --- the reserve, case C30 -------------------------------------------------
$d = Pen::Daemon->start;
$w = whole(max_tokens => 40, reasoning_effort => 'high');
isnt $w->{content}, '', 'asked, 40 tokens: there is an answer';
for my $ask (\&whole, \&streamed) {
    my %title = (max_tokens => 5);
    my $t = $ask->(%title);
    is $t->{content}, '', 'case C30: no content yet';
    isnt $t->{reasoning}, '', 'case C30: a thought';
    is $t->{finish}, 'length', 'case C30: length';
    is reasoning_tokens($t), 5, 'case C30: where the budget went';
    $t = $ask->(%title, reasoning_effort => 'none');
    isnt $t->{content}, '', 'case C30: none: an answer';
    is $t->{reasoning}, '', 'case C30: none: no thought';
}

# --- stop strings, clients -------------------------------------------------
for my $ask (\&whole, \&streamed) {
    my $t = $ask->(%cap, stop => ["\n\n"]);
    is $t->{reasoning}, $thought, 'check 96: not in the reasoning';
    is $t->{content}, (split /\n\n/, $answer)[0],
        'check 96: nor where the answer begins';
}
is $d->stop, 0, 'the daemon ends well';
$d = Pen::Daemon->start(args => { 'reasoning-format' => 'tags' });
is streamed(%cap)->{content}, $by{tags}{content}, 'the setting decides';
is streamed(%cap, reasoning_format => 'reasoning_content')->{content},
    $answer, 'unless the request does';
is $d->stop, 0, 'the daemon ends well';
done_testing;
