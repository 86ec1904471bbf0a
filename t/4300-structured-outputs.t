# Answers with a form on the real demo model, whole and streamed: what a strict
# parser makes of them, where reasoning and limits end, what cannot be.
# Expectations: spec tandem.md 7 and checks 47-52 and 54, settled.md; cases
# C26-C29 have tests of their own.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp ();
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;

need_demo();
my $json = JSON::PP->new->canonical->allow_nonref;
my $d = Pen::Daemon->start(args => { threads => 1, parallel => 4 });
my %question = (messages => [ { role => 'user',
    content => 'What is the capital of France?' } ]);
my %quick = (%question, reasoning_effort => 'none');

# --- forms: name, fields for a chat, fields for a completion, who judges -----

sub schema { return (response_format => { type => 'json_schema',
    json_schema => { name => 'x', schema => $_[0] } }) }
sub object { return { type => 'object', additionalProperties => $no,
    properties => { @_ }, required => [ map { $_[ 2 * $_ ] } 0 .. $#_ / 2 ] } }

sub tree { # every node is {v: integer, next: node or null}
    my ($v) = @_;
    for (; ref $v eq 'HASH'; $v = $v->{next}) {
        return 0 if join(',', sort keys %$v) ne 'next,v'
            || $json->encode($v->{v}) !~ /^-?\d+$/;
    }
    return !defined $v;
}

my $city = object(city => { enum => [ 'Paris', 'Łódź', 'New "York"' ] },
    sure => { type => 'boolean' });
my $list = object(list => { type => 'array', minItems => 1, maxItems => 3,
    items => { type => 'integer', minimum => 0, maximum => 99 } });
my $words = object(date => { type => 'string', format => 'date' },
    code => { type => 'string', pattern => '^[A-Z]{2}[0-9]{2}$' });
my $tree = { '$ref' => '#/$defs/node', '$defs' => { node => object(
    v => { type => 'integer' },
    next => { anyOf => [ { type => 'null' }, { '$ref' => '#/$defs/node' } ] }) } };
my @forms = (
    [ 'an object', { response_format => { type => 'json_object' } },
        { json_object => $yes }, sub { ref $_[0] eq 'HASH' } ],
    [ 'an enum and a boolean', { schema($city) }, { json => $city }, sub {
        join(',', sort keys %{ $_[0] }) eq 'city,sure'
            && grep({ $_[0]{city} eq $_ } @{ $city->{properties}{city}{enum} })
            && JSON::PP::is_bool($_[0]{sure}) } ],
    [ 'a list of bounded numbers', { schema($list) }, { json => $list }, sub {
        my @l = @{ $_[0]{list} };
        @l >= 1 && @l <= 3 && !grep { !/^\d\d?$/ } @l } ],
    [ 'a date and a pattern', { schema($words) }, { json => $words }, sub {
        $_[0]{date} =~ /^\d{4}-\d\d-\d\d$/ && $_[0]{code} =~ /^[A-Z]{2}\d\d$/ } ],
    [ 'a schema that calls itself', { schema($tree) }, { json => $tree },
        \&tree ],
);
my @texts = (
    [ 'a choice', { choice => [ 'yes', 'no', 'no way', "żółw\n" ] },
        sub { $_[0] =~ /^(?:yes|no|no way|\x{17c}\x{f3}\x{142}w\n)\z/ } ],
    [ 'a regex', { regex => '(19|20)\d{2}-(0[1-9]|1[0-2])' },
        sub { $_[0] =~ /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])\z/ } ],
    [ 'letters of Unicode', { regex => '\p{Lu}\p{Ll}{1,3}!' },
        sub { $_[0] =~ /^\p{Lu}\p{Ll}{1,3}!\z/ } ],
);

# A whole text obeys; a cut one is the beginning of one that could.
sub obeys {
    my ($name, $got, $judge, $is_json) = @_;
    is $got->{status}, 200, "$name: 200" or return diag $json->encode($got);
    like $got->{finish}, qr/^(?:stop|length)$/, "$name: stop or length";
    return ok 1, "$name: cut" if $got->{finish} eq 'length';
    my $v = $is_json ? eval { $json->decode($got->{text}) } : $got->{text};
    ok defined $v && $judge->($v), "$name: obeys" or diag $got->{text};
    return 1;
}

sub both_ways {
    my ($name, $ask, $judge, $is_json) = @_;
    my $w = whole($ask->());
    obeys($name, $w, $judge, $is_json);
    my $s = joined($ask->(stream => $yes));
    is $s->{bad}, '', "$name: a good stream";
    is "$s->{text} $s->{finish}", "$w->{text} $w->{finish}",
        "$name: streamed the same";
    is $s->{reasoning}, $w->{reasoning} // '', "$name: and the reasoning";
    return $w;
}

for my $how ([ greedy => temperature => 0 ], [ hot => temperature => 1.5,
        seed => 3 ], [ thinking => temperature => 0,
        reasoning_effort => 'high' ]) {
    my ($word, %how) = @$how;
    for my $f (@forms) {
        my ($name, $chat, $completion, $judge) = @$f;
        both_ways("$word: $name", sub { chat($d, %quick, %$chat, %how,
            max_tokens => 400, @_) }, $judge, 1);
        delete $how{reasoning_effort};
        both_ways("$word, completion: $name", sub { text($d, %how,
            structured_outputs => $completion, max_tokens => 400, @_) },
            $judge, 1);
        both_ways("$word, structured_outputs: $name", sub { chat($d, %quick,
            %how, structured_outputs => $completion, max_tokens => 400, @_) },
            $judge, 1);
    }
    for my $f (@texts) {
        my ($name, $fields, $judge) = @$f;
        both_ways("$word: $name", sub { chat($d, %quick, %how,
            structured_outputs => $fields, @_) }, $judge);
        both_ways("$word, completion: $name", sub { text($d, %how,
            structured_outputs => $fields, @_) }, $judge);
    }
}

# --- reasoning (check 49) ----------------------------------------------------
my $free = whole(chat($d, %question));
for my $f (@forms, [ 'a choice', { structured_outputs => { choice =>
        [ 'Rome', 'Paris' ] }, reasoning_effort => 'high' }, undef,
        sub { $_[0] =~ /^(?:Rome|Paris)\z/ } ]) {
    my ($name, $fields, undef, $judge) = @$f;
    my $w = whole(chat($d, %question, %$fields, max_tokens => 400));
    is $w->{reasoning}, $free->{reasoning}, "$name: the reasoning is free";
    obeys("$name, behind a reasoning", $w, $judge, $name ne 'a choice');
    unlike $w->{text}, qr/think>|^\n/, "$name: content is the answer alone";
}
my $w = whole(chat($d, %question, schema($city), reasoning_format => 'tags'));
like $w->{text}, qr{^<think>\n.*</think>\n\n\{.*\}\s*\z}s,
    'a client that asks for tags gets them';
$w = whole(chat($d, %question, schema(object(a => { const => 'x' })),
    max_tokens => 40, thinking_budget => 3));
like $w->{text}, qr/^\s*\{\s*"a"\s*:\s*"x"\s*\}\s*\z/,
    'a reasoning that is closed leaves the answer its room';
like $w->{reasoning}, qr/the answer follows/, 'closed by its budget';
# <|im_end|> and <|endoftext|> of the demo model
my %end = (logit_bias => { 3063 => 100, 3065 => 100 });
$w = whole(chat($d, %question, schema($city), %end, max_tokens => 400));
is "$w->{finish} " . join(',', sort keys %{ $json->decode($w->{text}) }),
    'stop city,sure', 'a reply does not end inside its reasoning';
is $w->{reasoning}, $free->{reasoning}, 'which goes on';
is whole(chat($d, %question, %end))->{text}, '',
    'where nothing is bound it may';

# --- ends --------------------------------------------------------------------
$w = whole(chat($d, %quick, schema($city), max_tokens => 3));
is $w->{finish}, 'length', 'max_tokens runs out: length';
is $w->{usage}{completion_tokens}, 3, 'with that many tokens';
$w = whole(chat($d, %quick, structured_outputs => { regex => 'a{20}b' },
    stop => 'aaab'));
is "$w->{text} $w->{finish}", 'a' x 17 . ' stop', 'a stop string cuts it';
$w = whole(chat($d, %quick, structured_outputs => { choice => [ 'no', 'now' ] },
    logit_bias => { 5 => 100, 6 => 100 }, presence_penalty => 2));
like $w->{text}, qr/^(?:no|now)\z/, 'a bias comes before the mask';
$w = whole(chat($d, %quick, structured_outputs => { choice => ['red green'] },
    logprobs => $yes, top_logprobs => 3));
is join('', map { chr } map { @{ $_->{bytes} } }
    @{ $w->{choices}[0]{logprobs}{content} }), 'red green',
    'log-probabilities of what is forced';
is scalar(grep { $_->{logprob} != 0 } @{ $w->{choices}[0]{logprobs}{content} }),
    0, 'are 0';

# --- one text ----------------------------------------------------------------
my @mixed = map { my ($f, $t) = @$_; +{ %quick, %{ $f->[1] }, temperature => $t,
    seed => 11, max_tokens => 200 } } map { my $f = $_; map { [ $f, $_ ] } 0, 1 }
    @forms;
my @alone = map { whole(chat($d, %$_))->{text} } @mixed;

sub together {
    my @f = map { my $f = Pen::Fcgi->connect($d->{socket});
        $f->send_request(uri => '/v1/chat/completions', body =>
            JSON::PP->new->utf8->canonical->encode($_)); $f } @_;
    return map { whole($_->response(60))->{text} } @f;
}
is_deeply [ together(@mixed) ], \@alone, 'alone and among others: one text';
$w = whole(chat($d, %{ $mixed[2] }, n => 4));
is_deeply [ map { $_->{message}{content} } @{ $w->{choices} } ],
    [ ($alone[2]) x 4 ], 'n choices';
is $d->stop, 0, 'the daemon ends with 0';
$d = Pen::Daemon->start(args => { threads => 1 });
is_deeply [ map { whole(chat($d, %$_))->{text} } @mixed ], \@alone,
    'and after a restart, with other threads';

# --- beside tools (check 51) -------------------------------------------------
my %tools = (tools => [ { type => 'function', function => { name => 'f' } } ]);
for my $choice ('none', 'auto') {
    $w = whole(chat($d, %quick, %tools, schema($city), tool_choice => $choice));
    is $w->{status}, 200, "JSON beside tools, $choice";
    obeys("beside tools, $choice", $w, $forms[1][3], 1)
        if !$w->{choices}[0]{message}{tool_calls};
}
# the model may choose: what its tools cannot be held to binds nothing
for my $strict (0, 1) {
    my %odd = (type => 'object', additionalProperties => JSON::PP::false,
        required => ['x'],
        properties => { x => { type => 'array', uniqueItems => $yes } });
    my $r = chat($d, %quick, schema($city), tools => [ { type => 'function',
        function => { name => 'f', parameters => \%odd,
            $strict ? (strict => $yes) : () } } ]);
    is $r->{status}, $strict ? 400 : 200,
        'a tool with a schema that is not supported' . ', strict' x $strict;
    is error($r)->{param}, 'tools[0].function.parameters', 'is named'
        if $strict;
}

# --- what cannot be ----------------------------------------------------------
# (check 52: behind a reasoning no answer begins with a newline)
my %never = (%question, reasoning_effort => 'high', thinking_budget => 1,
    structured_outputs => { regex => '\n\nyes' });
my $r = chat($d, %never);
is "$r->{status} " . error($r)->{param}, '400 structured_outputs',
    'check 52: no token is left: 400';
$r = joined(chat($d, %never, stream => $yes));
is $r->{finish}, 'error', 'in a stream: error';
is $r->{done}, 1, 'and [DONE]';
like whole(chat($d, %quick, structured_outputs => { regex => '\n\nyes' }))->{text},
    qr/^\n\nyes\z/, 'without a reasoning it can be';
for my $row (
    [ [ schema({ type => 'array', uniqueItems => $yes }) ],
        'response_format.json_schema.schema', qr/uniqueItems at #/ ],
    [ [ structured_outputs => { regex => '(?<=x)y' } ],
        'structured_outputs.regex', qr/./ ],
    [ [ response_format => { type => 'json_schema', json_schema => {
        name => 'colour', strict => $yes, schema => object(shade =>
            { type => 'object', properties => {} }) } } ],
        'response_format.json_schema.schema',
        qr/Invalid schema for response_format 'colour': In context=\('properties', 'shade'\), 'additionalProperties' is required to be supplied and to be false\./ ]) {
    my ($fields, $param, $text) = @$row;
    for my $stream ($no, $yes) {
        my $e = chat($d, %quick, @$fields, stream => $stream);
        is "$e->{status} " . (error($e)->{param} // 'null'), "400 $param",
            "$param: refused before it waits";
        like error($e)->{message}, $text, 'and why';
    }
}

# --- figures -----------------------------------------------------------------
my $seen = Pen::Fcgi->request($d->{socket}, uri => '/v1/cache/stats');
my $g = $json->decode($seen->{body})->{grammars};
ok $g->{entries} > 0 && $g->{entries} <= 16 && $g->{hits} > 0
    && $g->{misses} > 0 && $g->{bytes} > 0, 'grammars are counted';
ok $g->{masks} > 0 && $g->{mask_bytes} > 0 && $g->{mask_hits} > 0
    && $g->{mask_misses} > 0 && $g->{vocabulary_bytes} > 0
    && $g->{vocabulary_ms} >= 1, 'so are masks and the vocabulary';
my $page = Pen::Fcgi->request($d->{socket}, uri => '/metrics')->{body};
like $page, qr/^penstock_cache_\w+\{cache="$_".*\} [1-9]/m, "/metrics: $_"
    for qw(grammar mask vocabulary);
is $d->stop, 0, 'the daemon ends with 0';

# --- a vocabulary that writes a space before every text ----------------------
# (SentencePiece's: readers of a chat drop it, those of a completion do not)
my $folder = File::Temp->newdir;
open my $out, '>', "$folder/chat.json" or die $!;
print $out '{"system":["<s>","\n"],"user":["[INST] "," [/INST]"],'
    . '"assistant":["","</s>"],"open":"\n"}';
close $out;
$d = Pen::Daemon->start(model => 'contrib/demo-model/tiny-random-llama.gguf',
    args => { threads => 1, 'chat-format' => "$folder/chat.json" });
for my $row ([ 'a word', { choice => ['Paris'] }, qr/^Paris\z/ ],
    [ 'a space of its own', { choice => [' two spaces'] }, qr/^ two spaces\z/ ],
    [ 'a regex', { regex => ' a[bc]{3}' }, qr/^ a[bc]{3}\z/ ],
    [ 'no space', { regex => '[A-Z]\w{2} ok' }, qr/^[A-Z]\w{2} ok\z/ ]) {
    my ($name, $fields, $want) = @$row;
    for my $ask (\&chat, \&text) {
        $w = whole($ask->($d, structured_outputs => $fields));
        like $w->{text}, $want, "$name: to the letter";
        is joined($ask->($d, structured_outputs => $fields,
            stream => $yes))->{text}, $w->{text}, "$name: streamed";
    }
}
is $d->stop, 0, 'ends well';

# --- off (check 54) ----------------------------------------------------------
$d = Pen::Daemon->start(args => { threads => 1,
    'structured-outputs' => 'off' });
for my $row ([ 'response_format.type', response_format =>
        { type => 'json_object' } ], [ 'response_format.type', schema($city) ],
    [ 'structured_outputs', structured_outputs => { regex => 'a' } ],
    [ 'structured_outputs', structured_outputs => { choice => ['a'] } ],
    [ 'tool_choice', %tools, tool_choice => 'required' ]) {
    my ($param, %fields) = @$row;
    my $e = chat($d, %quick, %fields);
    is "$e->{status} " . (error($e)->{param} // 'null'), "400 $param",
        "check 54: $param";
}
is whole(chat($d, %quick, response_format => { type => 'text' }))->{status},
    200, 'text is served';
is $d->stop, 0, 'ends well';
done_testing;
