# docs/api.md against a running daemon: each route, field, reasoning form, error
# and header by the example that the page gives, every longer example (same keys
# and types, texts and errors word for word), the rules of streams.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Daemon;
use Pen::Http;

plan skip_all => 'no penstockd: make first'
    unless -x Pen::Daemon::build() . '/penstockd';
plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
plan skip_all => 'no penstockd-scripted: make tests first'
    unless -x Pen::Daemon::build() . '/t/penstockd-scripted';
my $json = JSON::PP->new->utf8->canonical;
my $page = slurp('docs/api.md');

sub slurp {
    open my $in, '<', $_[0] or die "$_[0]: $!";
    local $/;
    return <$in>;
}

sub section {
    my ($name) = @_;
    my ($text) = $page =~ /^## \Q$name\E\n(.*?)(?=^## |\z)/ms;
    return $text // die "no section $name";
}

# The body rows of a section's tables whose header is `head`: lists of cells.
sub rows {
    my ($name, $head) = @_;
    my ($table, @body);
    for my $line (split /\n/, section($name)) {
        if ($line !~ /^\|(.*)\|$/) {
            $table = undef;
        } elsif (!defined $table) {
            $table = $1 =~ s/^ | $|`//gr;
        } elsif ($1 !~ /^[ |-]+$/ && $table eq $head) {
            push @body, [ map { s/^\s+|\s+$//gr } split /\|/, $1, -1 ];
        }
    }
    die "no table $head in $name" unless @body;
    return @body;
}

# The same without backquotes.
sub table {
    return map { [ map { s/`//gr } @$_ ] } rows(@_);
}

# What stands in backquotes in a cell, a string per pair of them.
sub quoted { return $_[0] =~ /`([^`]*)`/g }

sub ask {
    my ($d, $method, $uri, $body, %params) = @_;
    return Pen::Fcgi->request($d->{socket}, method => $method, uri => $uri,
        timeout => 60, params => \%params,
        defined $body ? (body => $body) : ());
}

# Keys and types of a value, as text: numbers, strings and null told apart.
sub shape {
    my ($v) = @_;
    return 'null' unless defined $v;
    return 'bool' if JSON::PP::is_bool($v);
    return '{' . join(',', map { "$_:" . shape($v->{$_}) } sort keys %$v) . '}'
        if ref $v eq 'HASH';
    return '[' . join(',', map { shape($_) } @$v) . ']' if ref $v;
    return $json->allow_nonref->encode($v) =~ /^"/ ? 'string' : 'number';
}

# A response without what the page leaves out of its events.
sub short {
    my ($v) = @_;
    my $r = ref $v eq 'HASH' && $v->{response} or return $v;
    return { %$v, response => { map { $_ => $r->{$_} }
        qw(id object status output) } };
}

# The shapes of a stream's events, with their names; equal neighbours are one.
sub shapes {
    my @all;
    for my $event (split /\n\n+/, $_[0]) {
        my ($name, $data) = $event =~ /^(?:event: (\S+)\n)?data: (.*?)\s*\z/
            or return "bad: $event";
        my $s = $data eq '[DONE]' ? $data
            : ($name // '') . shape(short($json->decode($data)));
        push @all, $s unless @all && $all[-1] eq $s;
    }
    return \@all;
}

# What choices say, without ids and numbers that differ between machines.
sub said {
    return [ map { my $c = $_; my $m = $c->{message} // $c->{delta} // $c;
        my $l = $c->{logprobs} // {};
        { finish => $c->{finish_reason},
            (map { $_ => $m->{$_} } qw(content reasoning_content text)),
            calls => [ map { @{ $_->{function} }{qw(name arguments)} }
                @{ $m->{tool_calls} // [] } ],
            tokens => $l->{tokens} // [ map { $_->{token} }
                @{ $l->{content} // [] } ] } } @{ $_[0]{choices} } ];
}

# The same of a stream: its choice as a whole.
sub said_stream {
    my %all;
    for my $c (map { @{ said($json->decode($_)) } } $_[0] =~ /^data: (\{.*)$/mg) {
        $all{$_} .= $c->{$_} // '' for qw(finish content reasoning_content text);
        $all{calls}[$_] .= $c->{calls}[$_] // '' for 0 .. 1;
    }
    return \%all;
}

# The items or blocks of the newer dialects: what they say.
sub pieces_of {
    return [ map { my $i = $_; [ $i->{type},
        (map { $i->{$_} // () } qw(text thinking name arguments input)),
        map { $_->{text} } @{ $i->{content} // [] } ] }
        @{ $_[0]{output} // $_[0]{content} // $_[0]{data} // [] } ];
}

# The same of a stream: its deltas, by their kind.
sub deltas_of {
    my %all;
    for my $e (map { $json->decode($_) } $_[0] =~ /^data: (\{.*)$/mg) {
        my $delta = $e->{delta} // next;
        my $kind = $e->{type} . (ref $delta && $delta->{type} || '');
        $all{$kind} .= $_ for ref $delta ? map { $delta->{$_} // () } qw(text
            thinking partial_json stop_reason) : $delta;
    }
    return \%all;
}

# --- examples ----------------------------------------------------------------
my $d = Pen::Daemon->start(args => { threads => 1, 'responses-keep' => 1 });
my %now; # ids of the page, and those of this run
my @examples = $page =~
    /^```http\n(\w+) (\S+)\n(.*?)^```\n\n```(\w+)\n(.*?)^```$/msg;
is scalar(my @all = $page =~ /^```\w/mg), @examples / 5 * 2,
    'every block is a request or its answer';
while (my ($method, $uri, $body, $kind, $want) = splice @examples, 0, 5) {
    my $name = "$method $uri " . substr $body, 0, 50;
    s/\b(resp_[0-9a-f]{24})\b/$now{$1} \/\/ $1/ge for $uri, $body;
    my $r = ask($d, $method, $uri, length $body ? $body : undef);
    if ($kind eq 'sse') {
        is_deeply shapes($r->{body}), shapes($want), $name;
        is_deeply deltas_of($r->{body}), deltas_of($want), 'in words'
            if $want =~ /^event: /m;
        is_deeply said_stream($r->{body}), said_stream($want), 'says the same';
        next;
    }
    my ($got, $shown) = map { $json->decode($_) } $r->{body}, $want;
    if ($shown->{choices}) { # the page says that examples leave these out
        delete $got->{$_} for grep { !$shown->{$_} }
            qw(system_fingerprint usage timings metrics);
    }
    if (exists $shown->{output}) { # and these, what the page does not show
        delete $got->{$_} for grep { !exists $shown->{$_} } keys %$got;
    } elsif (($shown->{type} // '') eq 'message' && !$shown->{usage}) {
        delete @$got{qw(usage timings metrics)};
    }
    $now{ $shown->{id} } = $got->{id} if ($shown->{id} // '') =~ /^resp_/;
    is shape($got), shape($shown), $name;
    is_deeply pieces_of($got), pieces_of($shown), 'in words';
    is_deeply said($got), said($shown), 'says the same' if $shown->{choices};
    is_deeply $got->{error}, $shown->{error}, "$name, word for word"
        if $shown->{error};
}

is $d->stop, 0, 'ends well';
$d = Pen::Daemon->start(args => { threads => 1 });

# --- routes ------------------------------------------------------------------
my @routes = table('Routes', 'method | path | key | Allow | what');
is_deeply [ map { "$_->[0] $_->[1]" } @routes ],
    [ map { s/^\{"|"$//gr =~ s/", "/ /r }
        slurp('src/api/route.c') =~ /(\{"\w+", "\S+")/g ],
    'the page has the routes of src/api/route.c';
my $kept = Pen::Daemon->scripted(args => { 'responses-keep' => 1 });
for my $route (@routes) {
    my ($method, $path, $key, $allow) = @$route;
    my $stored = $path =~ m{^/v1/responses/\*};
    my $on = $stored ? $kept : $d;
    my $name = $stored ? $json->decode(ask($on, 'POST', '/v1/responses',
        '{"input":"Hi"}')->{body})->{id} : 'demo';
    $path =~ s/\*/$name/;
    $path .= '?follow=0' if $path =~ m{/live$}; # else it does not end
    my $body = $method eq 'POST' ? '{}' : undef;
    is ask($on, 'HEAD', $path)->{status}, 200, "HEAD $path"
        if $allow =~ /HEAD/;
    my $status = ask($on, $method, $path, $body)->{status};
    is $status, $method eq 'POST' && !$stored ? 400 : 200, "$method $path";
    my $r = ask($on, 'PUT', $path);
    is "$r->{status} $r->{headers}{allow}", "405 $allow", "PUT $path: Allow";
    $r = ask($on, $method, $path, $body, REMOTE_ADDR => '192.0.2.1');
    is { 401 => 'yes', 404 => 'or local' }->{ $r->{status} } // 'no', $key,
        "$path: needs a key";
}
like ask($d, 'GET', '/health', undef, REMOTE_ADDR => '192.0.2.1')->{body},
    qr/^\{"status":"ok"\}$/, 'a stranger sees no figures';

# --- fields ------------------------------------------------------------------
my $compat = $json->decode(scalar
    qx(${\ Pen::Daemon::build() }/penstock compat --json));
my %base = (chat => '"messages":[{"role":"user","content":"Hi"}],"max_tokens":1',
    completions => '"prompt":"Hi","max_tokens":1',
    responses => '"input":"Hi","max_output_tokens":1');
$base{messages} = $base{chat};
my %path = (chat => '/v1/chat/completions', completions => '/v1/completions',
    responses => '/v1/responses', messages => '/v1/messages');

# Members of a body, as the page shows them, in a request that lacks nothing.
sub with {
    my ($wire, $members, $base) = @_;
    return ask($d, 'POST', $path{$wire},
        join '', '{', $base // $base{$wire}, ",$members}");
}

# The use of a row, as the page writes it.
sub use_of {
    my ($row, @wires) = @_;
    my @use = map { $_ // '-' } @{$row}{@wires};
    return $use[0] eq $use[-1] ? $use[0] : "$use[0] / $use[1]";
}

# The field of a refusal; /v1/messages has it at the head of the message.
sub param_of {
    my $e = $json->decode($_[0]{body})->{error};
    return $e->{param} // ($e->{message} =~ /^([\w.\[\]]+): / ? $1 : 'null');
}

# The rows of a section are those of these bodies, and their examples hold.
sub fields_are {
    my ($name, @wires) = @_;
    my @fields = rows($name, 'field | use | example | meaning');
    is_deeply [ sort map { (quoted($_->[0]))[0] . " $_->[1]" } @fields ],
        [ sort map { "$_->{field} " . use_of($_, @wires) }
            grep { my $row = $_; grep { $row->{$_} } @wires }
            @{ $compat->{fields} } ],
        "$name: those of penstock compat, and their use";
    for my $row (@fields) {
        my ($members, $param) = quoted($row->[2]);
        my @use = split m{ / }, $row->[1];
        for my $wire (grep { $use[ $_ eq $wires[0] ? 0 : -1 ] ne '-' }
            @wires) {
            my $r = with($wire, $members);
            my $got = $r->{status} == 200 ? 200
                : "$r->{status} " . param_of($r);
            is $got, defined $param ? "400 $param" : 200, "$wire: $members";
        }
    }
}

fields_are('Request fields', qw(chat completions));
fields_are('Fields of responses', 'responses');
fields_are('Fields of messages', 'messages');

my ($deep) = section('Request fields') =~ /nest (\d+) levels/;
for my $n ($deep - 1, $deep) { # and the body itself
    is with('chat', '"x":' . '[' x $n . ']' x $n)->{status},
        $n < $deep ? 200 : 400, $n + 1 . ' levels';
}

# --- finish reasons ----------------------------------------------------------
my $capital = '"messages":[{"role":"user","content":'
    . '"What is the capital of France?"}],"temperature":0';
for my $row (rows('Streams', 'finish_reason | meaning | example')) {
    my ($members) = quoted($row->[2]) or next;
    my $choice = $json->decode(with('chat', $members, $capital
        . ',"max_tokens":99')->{body})->{choices}[0];
    is $choice->{finish_reason}, (quoted($row->[0]))[0], $members;
}

for my $row (rows('Messages', 'stop_reason | when | example')) {
    my ($members) = quoted($row->[2]) or next;
    is $json->decode(with('messages', $members, $capital)->{body})
        ->{stop_reason}, (quoted($row->[0]))[0], $members;
}
my %listed = map { map { $_ => 1 } quoted($_->[0]) }
    rows('Responses', 'event | when');
is_deeply [ grep { !$listed{$_} } section('Responses') =~ /^event: (\S+)$/mg ],
    [], 'the page lists the events that it shows';

# --- reasoning ---------------------------------------------------------------
sub message {
    my $r = with('chat', $_[0], $capital);
    return $json->decode($r->{body})->{choices}[0]{message};
}
for my $row (rows('Reasoning',
    'reasoning_format | content | reasoning_content')) {
    my @want = map { my ($q) = quoted($_); $q } @$row[ 1, 2 ];
    s/\\n/\n/g for grep { defined } @want;
    for my $word (quoted($row->[0])) {
        is_deeply [ @{ message(qq("reasoning_format":"$word")) }
            {qw(content reasoning_content)} ], \@want, "reasoning: $word";
    }
}
my $whole = message('"max_reasoning_tokens":0')->{reasoning_content};
for my $row (rows('Reasoning', 'members of a body | reasoning')) {
    my ($members) = quoted($row->[0]);
    my $got = message($members)->{reasoning_content};
    my $is = !defined $got ? 'off' : $got eq $whole ? 'whole'
        : index($whole, substr $got, 0, 8) == 0 ? 'cut' : 'another';
    is $is, $row->[1], "reasoning: $members";
}
my %caps;
for my $row (table('Reasoning', 'effort | cap in tokens')) {
    $caps{$_} = $row->[1] for split /, /, $row->[0];
}
for my $word (sort keys %caps) {
    my $got = message(qq("reasoning_effort":"$word"))->{reasoning_content};
    is $got, $caps{$word} eq 'no reasoning' ? undef : $whole, "effort $word";
}

my $code = slurp('src/api/body_think.c');
for my $word (sort keys %caps) {
    my ($cap) = $code =~ /\{"$word", (-?\d+)\}/;
    is $caps{$word} =~ tr/,//dr,
        { -1 => 'no reasoning', 0 => 'none' }->{$cap} // $cap, "cap of $word";
}
$code = slurp('src/gen/guide_window.h');
my ($circles) = section('Reasoning') =~ /circles(.*?)A request that asks/s;
my %number = map { $_ => $code =~ /^#define $_ (\d+)$/m }
    qw(UNIT_MAX UNIT_TIMES UNIT_IDS NEW_PERCENT);
is_deeply [ grep { $circles !~ /\b$number{$_}\b/ } sort keys %number ], [],
    'the page has the numbers of src/gen/guide_window.h';
is message('"max_tokens":3,"reasoning_format":"tags"')->{content},
    "<think>\nThe user asks", 'reasoning that is cut leaves the block open';
is_deeply [ @{ message('"max_tokens":3') }{qw(content reasoning_content)} ],
    [ '', 'The user asks' ], 'or content empty';

# By kind of client: the content of a stream, piece by piece.
sub pieces {
    my $r = ask($d, 'POST', $path{chat}, "{$capital,\"stream\":true}",
        HTTP_USER_AGENT => $_[0]);
    return grep { length } map { $_->{choices}[0]{delta}{content} // '' }
        map { $json->decode($_) } $r->{body} =~ /^data: (\{.*)$/mg;
}
like join('', pieces('hermes/1.0')), qr{^<think>\nThe.*</think>\n\nThe}s,
    'Hermes gets tags';
# (on a busy machine the first words may come in the same piece)
like((pieces('Open-WebUI/0.6'))[0], qr/^\n\n/, 'Open WebUI an empty line first');
like((pieces('curl/8.0'))[0], qr/^The/, 'others the answer at once');

# --- log-probabilities -------------------------------------------------------
sub tokens {
    my $r = with('chat', "\"logprobs\":true,\"top_logprobs\":3,$_[0]", $capital);
    return @{ $json->decode($r->{body})->{choices}[0]{logprobs}{content} };
}
my $both = join '', map { $_->{token} } tokens('"reasoning_format":"both"');
like $both, qr/^The user asks.*The capital of France is Paris\.$/s,
    'thoughts are listed where content has them';
is join('', map { $_->{token} } tokens('"reasoning_format":"parsed"')),
    'The capital of France is Paris.', 'and nowhere else';
my @forced = tokens('"structured_outputs":{"choice":["漢"]}');
is_deeply [ map { $_->{token}, scalar @{ $_->{top_logprobs} } } @forced ],
    [ 'bytes:\xe6', 1, 'bytes:\xbc', 1, 'bytes:\xa2', 1 ],
    'bytes of a character that is forced';

# --- errors ------------------------------------------------------------------
my %example; # of the page, by what it is answered with
for my $row (rows('Errors', 'status | type | code | when | example')) {
    my ($status, $type, $code) = map { s/`//gr } @$row[ 0 .. 2 ];
    $example{"$status $type $code"} = (quoted($row->[4]))[0];
}
my %sent;

# "METHOD URI BODY" of the page, sent.
sub example {
    my ($d, $text, %params) = @_;
    my ($method, $uri, $body) = split / /, $text, 3;
    $body =~ s/word word \.\.\./'word ' x 5000/e if $body;
    return ask($d, $method, $uri, $body, %params);
}

sub sent {
    my ($d, $want, %params) = @_;
    my $r = example($d, $example{$want} // die("no example of $want"), %params);
    my $e = $json->decode($r->{body})->{error};
    is join(',', sort keys %$e), 'code,message,param,type', "$want: keys";
    is join(' ', $r->{status}, $e->{type}, $e->{code} // 'null'), $want,
        "$want: $example{$want}";
    $sent{$want} = 1;
    return $r;
}

# --- headers -----------------------------------------------------------------
my %header = map { $_->[0] => (quoted($_->[2]))[0] }
    rows('Headers', 'header | where | example');
my %seen;

# All headers of one row of the page are in the answer to its example.
sub has {
    my ($d, $cell, %params) = @_;
    my $r = example($d, $header{$cell} // die("no row $cell"), %params);
    for (quoted($cell)) {
        my ($name, $value) = split /: /;
        my $got = $r->{headers}{ lc $name };
        ok defined $got && (!defined $value || $got eq $value),
            "$header{$cell}: $_";
    }
    $seen{$cell} = 1;
    return $r;
}
my $chat = '/v1/chat/completions';
sent($d, '400 invalid_request_error null');
sent($d, '400 invalid_request_error context_length_exceeded');
my $stranger = '192.0.2.1';
sent($d, '401 authentication_error invalid_api_key', REMOTE_ADDR => $stranger);
has($d, '`WWW-Authenticate: Bearer realm="penstock"`', REMOTE_ADDR => $stranger);
sent($d, '404 not_found_error null');
sent($d, '404 not_found_error model_not_found');
sent($d, '405 invalid_request_error method_not_allowed');
sent($d, '413 invalid_request_error request_too_large',
    CONTENT_LENGTH => 1 << 40);
has($d, '`X-Request-Id`');
has($d, '`request-id`');
has($d, '`Content-Length`');
has($d, '`X-Skipped-Tools`');
has($d, '`Cache-Control: no-cache`, `X-Accel-Buffering: no`');
has($d, '`Allow`');
my ($name) = grep { /X-Penstock-Client/ } sort keys %header;
my $r = example($d, $header{$name}, HTTP_X_PENSTOCK_CLIENT => 'dashboard');
my $id = $r->{headers}{'x-request-id'};
is +($d->wait_rows("request_id = '$id'"))[0]{client_kind}, 'dashboard', $name;
$seen{$name} = 1;
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(args => { thinking => 'off', 'cors-origin' =>
    'https://chat.example.org,http://localhost:3000' });
for my $cell (grep { /Access-Control|Vary/ } sort keys %header) {
    has($d, $cell, HTTP_ORIGIN => 'https://chat.example.org',
        HTTP_ACCESS_CONTROL_REQUEST_METHOD => 'POST');
}
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(args => { 'pattern-stop' => '4:1:8' },
    env => { PENSTOCK_SCRIPT => ' one' x 100 });
$r = has($d, '`X-Engine-Stop`');
my $choice = $json->decode($r->{body})->{choices}[0];
is $choice->{finish_reason}, 'stop', 'the pattern guard says stop';
like $choice->{text}, qr/ one\n\n\[[^\[\]]+\]\z/, 'its notice in brackets';
is $d->stop, 0, 'ends well';

my %args = (thinking => 'off', parallel => 1, 'max-queue' => 1,
    'wait-line-ms' => 50, 'prefill-line-ms' => 50, 'request-timeout' => 2);
my $stream = Pen::Http::json(Pen::Http::chat(4000));
$d = Pen::Daemon->scripted(args => \%args, env => { PENSTOCK_GAP_US => 20_000,
    PENSTOCK_PREFILL_US => 300_000, PENSTOCK_SCRIPT_LOOP => 1 });
my @open = map {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => $chat, body => $stream);
    $d->wait_load(1, $_);
    $f;
} 0, 1;
$r = sent($d, '503 server_busy null');
is $r->{headers}{'retry-after'}, 5, 'Retry-After';
has($d, '`Retry-After`');
my ($first, $second) = map { $_->response(20)->{body} } @open;
like $first, qr/^: prefill \d+\/\d+\n\n(: prefill|data: )/, 'prefill lines';
like $first, qr/"finish_reason":"timeout".*\n\ndata: \[DONE\]\n\n\z/,
    'timeout';
like $second, qr/^(: waiting, position 1, \d+ s so far\n\n)+/, 'waiting lines';
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(args => { thinking => 'off' },
    env => { PENSTOCK_FAIL_AFTER => 3 });
sent($d, '500 server_error null');
$r = ask($d, 'POST', $chat, $stream);
like $r->{body}, qr/"finish_reason":"error".*"error":\{"message":"[^"]+",
    "type":"server_error","param":null,"code":null\}\}\n\n
    data:\ \[DONE\]\n\n\z/x, 'a failure within a stream';
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(
    model => 'contrib/demo-model/tiny-random-llama.gguf');
sent($d, '400 invalid_request_error unsupported_chat_format');
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(args => { thinking => 'off',
    'limit-requests' => 100, 'limit-tokens' => 1000,
    'limit-tokens-day' => 100_000, 'limit-concurrent' => 4 });
has($d, $_) for grep { /ratelimit/ } sort keys %header;
$r = sent($d, '429 rate_limit_error rate_limit_exceeded');
is $r->{headers}{'retry-after'}, undef, 'too large: no time to come back';
has($d, '`x-should-retry: false`');
is $d->stop, 0, 'ends well';

# Needs an engine that stands still: t/unit/api_gone.c.
ok delete $example{'429 rate_limit_error queue_timeout'}, '429 is told';
is_deeply [ sort keys %sent ], [ sort keys %example ],
    'every error of the page was seen, and no other';
is_deeply [ sort keys %seen ], [ sort keys %header ], 'and every header';
done_testing;
