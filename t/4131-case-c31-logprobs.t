# Case C31: log-probabilities entry by entry, streamed and whole, whatever a
# chunk holds. Values are those of penstock run for the same prompt, and of
# contrib/demo-model/vectors.json (made by refmodel.py, float32 numpy).
use strict;
use warnings;
use utf8;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use List::Util qw(sum0 max);
use Pen::Daemon;
use Pen::Fcgi;

my $demo = 'contrib/demo-model/penstock-demo-q8_0.gguf';
my $penstock = Pen::Daemon::build() . '/penstock';
plan skip_all => 'no penstockd' unless -x Pen::Daemon::build() . '/penstockd';
plan skip_all => 'no demo model' unless -r $demo;
my ($true, $false) = (JSON::PP::true, JSON::PP::false);
my $json = JSON::PP->new->utf8->canonical;
my $d = Pen::Daemon->start(model => $demo, args => { threads => 1 });
my %ask = (temperature => 0, max_tokens => 60, reasoning_effort => 'none',
    messages => [ { role => 'user',
        content => 'What is the capital of France?' } ]);
my ($chat, $text) = ('/v1/chat/completions', '/v1/completions');

sub ask {
    my ($uri, %body) = @_;
    my $r = Pen::Fcgi->request($d->{socket}, uri => $uri, timeout => 60,
        body => $json->encode(\%body));
    return ($r, $r->{body} =~ /^\{/ ? $json->decode($r->{body}) : undef);
}

# {logprobs content reasoning finish} of a choice, and `text`.
sub whole {
    my ($uri, %body) = @_;
    my ($r, $v) = ask($uri, %body);
    is $r->{status}, 200, "$uri: 200" or diag $r->{body};
    my $c = $v->{choices}[0];
    return { logprobs => $c->{logprobs}, finish => $c->{finish_reason},
        text => $c->{message}{content} // $c->{text} // '',
        reasoning => $c->{message}{reasoning_content} // '', all => $v };
}

# The same of a stream, its lists joined; `chunks`: entries of each.
sub streamed {
    my ($uri, %body) = @_;
    my ($r) = ask($uri, %body, stream => $true);
    my %s = (text => '', reasoning => '', chunks => [], bad => '');
    for my $event (split /\n\n/, $r->{body}) {
        my ($data) = $event =~ /^data: (\{.*)\z/s or next;
        my $c = $json->decode($data)->{choices}[0] or next;
        my $l = $c->{logprobs};
        my $piece = $c->{delta}{content} // $c->{text} // '';
        $s{bad} = 'no logprobs' unless exists $c->{logprobs};
        $s{bad} = 'in a role chunk' if $l && $c->{delta}{role};
        $s{text} .= $piece;
        $s{reasoning} .= $c->{delta}{reasoning_content} // '';
        $s{finish} = $c->{finish_reason} // $s{finish};
        next unless $l;
        for my $k (keys %$l) {
            push @{ $s{logprobs}{$k} }, @{ $l->{$k} } if ref $l->{$k};
            $s{logprobs}{$k} //= undef;
        }
        push @{ $s{chunks} }, scalar @{ $l->{content} // $l->{tokens} };
    }
    return \%s;
}

sub bytes_of { return join '', map { chr } map { @{ $_->{bytes} } } @{ $_[0] } }

sub utf8_of { my $s = shift; utf8::encode($s); return $s }

# --- streamed and whole -----------------------------------------------------

sub same {
    my ($name, %body) = @_;
    my $w = whole($chat, %ask, %body, logprobs => $true, top_logprobs => 3);
    my $s = streamed($chat, %ask, %body, logprobs => $true, top_logprobs => 3);
    $s->{logprobs} //= { content => [], refusal => undef }; # no chunk had one
    is_deeply $s->{logprobs}, $w->{logprobs},
        "$name: entry by entry equal to the unstreamed list";
    is $s->{text}, $w->{text}, "$name: the same text";
    is $s->{bad}, '', "$name: each chunk has the member";
    is bytes_of($w->{logprobs}{content}), utf8_of($w->{text}),
        "$name: its bytes are the answer's";
    return ($w, $s);
}

my ($w, $s) = same('an answer');
is_deeply [ sort keys %{ $w->{logprobs} } ], [ 'content', 'refusal' ],
    "OpenAI's two members";
my @e = @{ $w->{logprobs}{content} };
is $w->{all}{usage}{completion_tokens}, @e + 1, 'all tokens but the end token';
is_deeply [ map { join ',', sort keys %$_ } @e ],
    [ ('bytes,logprob,token,top_logprobs') x @e ], 'keys of an entry';
is_deeply [ map { scalar @{ $_->{top_logprobs} } } @e ], [ (3) x @e ],
    'three alternatives each';
is join(' ', map { $_->{top_logprobs}[0]{token} } @e),
    join(' ', map { $_->{token} } @e), 'greedy: the chosen one is the first';
is_deeply [ map { $_->{top_logprobs}[0]{logprob} } @e ],
    [ map { $_->{logprob} } @e ], 'with the same value';
cmp_ok max(map { sum0(map { exp $_->{logprob} } @{ $_->{top_logprobs} }) } @e),
    '<=', 1.00001, 'they are probabilities';
is join('', map { $_->{token} } @e), $w->{text}, 'tokens are texts';
is_deeply [ map { $_->{logprobs} } @{ (ask($chat, %ask))[1]{choices} } ],
    [ undef ], 'null when not asked for';
ok !streamed($chat, %ask)->{logprobs}, 'also in a stream';

my $forced = "Hi 👩🏽‍🚀 żółw 漢字";
($w, $s) = same('forced text', structured_outputs => { choice => [$forced] });
is $w->{text}, $forced, 'C05: the text';
cmp_ok max(@{ $s->{chunks} }), '>', 1, 'a chunk of several tokens';
@e = @{ $w->{logprobs}{content} };
ok !(grep { $_->{logprob} != 0 || @{ $_->{top_logprobs} } != 1 } @e),
    'what had to come has probability 1 and no other beside it';
my @half = grep { $_->{token} =~ /^bytes:/ } @e;
ok @half > 2, 'tokens that are half a character';
ok !(grep { $_->{token} =~ /\x{fffd}/ } @e), 'never U+FFFD';
is_deeply [ map { my $t = $_->{token};
        $t =~ s/^bytes://; $t =~ s/\\x(..)/chr hex $1/ge; $t } @half ],
    [ map { bytes_of([$_]) } @half ], 'spelled in bytes';
($w) = same("cut after $_", max_tokens => $_,
    structured_outputs => { choice => [ '漢' x 8 ] }) for 1 .. 6;

# A stop string, and one that could have been one.
same("stop $_", stop => $_) for ' is', ' of Francium', '.';
($w) = same('stop', stop => ' of Fr');
is $w->{text}, 'The capital', 'stopped';
is $w->{logprobs}{content}[-1]{token}, ' capital',
    'the tokens of the stop string are not told of';
$w = whole($chat, %ask, stop => 's P', logprobs => $true);
is $w->{text}, 'The capital of France i', 'inside of a token';
is bytes_of($w->{logprobs}{content}), 'The capital of France is',
    'that is told of as it is';

# --- how many ---------------------------------------------------------------

for my $more ([], [ top_logprobs => 0 ]) {
    my $r = whole($chat, %ask, logprobs => $true, @$more);
    is_deeply [ grep { @{ $_->{top_logprobs} } } @{ $r->{logprobs}{content} } ],
        [], "@$more: an empty list each";
    ok @{ $r->{logprobs}{content} } > 3, 'of a list';
}
for my $k (1, 20) {
    my $r = whole($chat, %ask, logprobs => $true, top_logprobs => $k);
    is scalar @{ $r->{logprobs}{content}[0]{top_logprobs} }, $k, "$k of them";
}
for ([ 21, 'top_logprobs', logprobs => $true, top_logprobs => 21 ],
    [ -1, 'top_logprobs', logprobs => $true, top_logprobs => -1 ],
    [ 'alone', 'top_logprobs', top_logprobs => 3 ],
    [ 'a word', 'logprobs', logprobs => 'yes' ])
{
    my ($name, $param, @more) = @$_;
    my ($r, $v) = ask($chat, %ask, @more);
    is "$r->{status} " . ($v->{error}{param} // ''), "400 $param",
        "$name: refused";
}
my ($r6, $v6) = ask($text, prompt => 'a', max_tokens => 1, logprobs => 6);
is "$r6->{status} $v6->{error}{param}", '400 logprobs', 'completions: 0 to 5';

# --- values -----------------------------------------------------------------

sub run_of {
    my ($ids, $n, $k) = @_;
    open my $in, '-|', $penstock, 'run', '-m', $demo, '--ids',
        join(',', @$ids), '-n', $n, '--top-logprobs', $k, '--json' or die;
    local $/;
    return $json->decode(<$in>);
}

sub vectors {
    open my $in, '<', 'contrib/demo-model/vectors.json' or die;
    local $/;
    return @{ $json->decode(<$in>)->{models} };
}

my ($prompts) = grep { $_->{file} =~ /demo-q8_0/ } vectors();
for my $p (@{ $prompts->{prompts} }) {
    my $run = run_of($p->{ids}, 8, 5);
    my @run = grep { $_->{token} ne '<|im_end|>' } @{ $run->{logprobs} };
    my $c = whole($text, prompt => $p->{ids}, max_tokens => 8,
        temperature => 0, logprobs => 5);
    my $l = $c->{logprobs};
    my $name = $p->{name};
    is_deeply [ sort keys %$l ],
        [qw(text_offset token_logprobs tokens top_logprobs)], "$name: keys";
    my $n = grep { $_ !~ /^bytes:/ } @{ $l->{tokens} };
    is $n, @{ $l->{tokens} }, "$name: whole characters";
    is_deeply $l->{tokens}, [ map { $_->{token} } @run[ 0 .. $n - 1 ] ],
        "$name: the tokens of penstock run";
    is_deeply [ map { sprintf '%.5f', $_ + 0 } @{ $l->{token_logprobs} } ],
        [ map { sprintf '%.5f', $_->{logprob} + 0 } @run[ 0 .. $n - 1 ] ],
        "$name: its values";
    my @top = map { { map { $_->{token} => $_->{logprob} + 0 }
        @{ $_->{top} } } } @run[ 0 .. $n - 1 ];
    is_deeply [ map { { %$_ } } @{ $l->{top_logprobs} } ], \@top,
        "$name: its alternatives";
    is join('', map { substr $c->{text}, $l->{text_offset}[$_],
            length $l->{tokens}[$_] } 0 .. $n - 1), $c->{text},
        "$name: offsets into the text";
    my %id = map { $_->{id} => $_->{token} } @{ $run->{logprobs}[0]{top} };
    my $worst = max(0, map { abs($l->{top_logprobs}[0]{ $id{ $_->[0] } }
            - $_->[1]) } grep { exists $id{ $_->[0] } } @{ $p->{top5} });
    cmp_ok $worst, '<=', 0.1, "$name: and the reference's";
}

# --- check 42, choices, completions ------------------------------------------

for my $temperature (0, 1) {
    my @body = (temperature => $temperature, seed => 11, max_tokens => 40,
        messages => [ { role => 'user', content => 'Count to ten.' } ]);
    my $plain = whole($chat, %ask, @body);
    my $with = whole($chat, %ask, @body, logprobs => $true, top_logprobs => 4);
    is $with->{text}, $plain->{text}, "temperature $temperature: recording "
        . 'changes no token';
    is $with->{all}{usage}{completion_tokens},
        $plain->{all}{usage}{completion_tokens}, 'and no count';
}
my ($r2, $two) = ask($chat, %ask, temperature => 1, seed => 5, n => 2,
    logprobs => $true, top_logprobs => 1);
is scalar @{ $two->{choices} }, 2, 'n: two choices';
is bytes_of($_->{logprobs}{content}), utf8_of($_->{message}{content}),
    'each with its own list' for @{ $two->{choices} };

my %prompt = (prompt => 'The capital', temperature => 0, max_tokens => 12);
for my $k (0, 3) {
    my $one = whole($text, %prompt, logprobs => $k);
    my $many = streamed($text, %prompt, logprobs => $k);
    is_deeply $many->{logprobs}, $one->{logprobs}, "completions, $k: the same "
        . 'streamed';
    is scalar keys %{ $one->{logprobs}{top_logprobs}[0] }, $k || 1,
        'alternatives';
}
is whole($text, %prompt)->{logprobs}, undef, 'null when not asked for';

# --- reasoning --------------------------------------------------------------

my %think = (reasoning_effort => 'high', max_tokens => 400);
my $t = whole($chat, %ask, %think, logprobs => $true);
$s = streamed($chat, %ask, %think, logprobs => $true);
ok length $t->{reasoning} && length $t->{text}, 'reasoning and an answer';
is bytes_of($t->{logprobs}{content}), utf8_of($t->{text}),
    'reasoning apart: the entries of the answer';
is_deeply $s->{logprobs}, $t->{logprobs}, 'the same streamed';
for my $form ('tags', 'both') {
    my @form = (%ask, %think, logprobs => $true, reasoning_format => $form);
    my $in = whole($chat, @form);
    is $in->{text}, "<think>\n$t->{reasoning}\n</think>\n\n$t->{text}",
        "$form: the reasoning is in the content";
    is '<think>' . "\n" . bytes_of($in->{logprobs}{content}),
        utf8_of($in->{text}), 'and so are its entries, as its marks';
    is_deeply streamed($chat, @form)->{logprobs}, $in->{logprobs},
        'the same streamed';
}

is $d->stop, 0, 'the daemon ends well';
done_testing;
