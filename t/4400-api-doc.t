# docs/api.md against a running daemon: each route, each error code, each
# example (same keys and types, errors word for word), the rules of streams.
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

# The body rows of a section's tables: lists of cells, without backquotes.
sub table {
    my @rows = map { [ map { s/^\s+|\s+$|`//gr } split /\|/, $_ ] }
        section($_[0]) =~ /^\|(.*)\|$/mg;
    my @body;
    for my $i (0 .. $#rows) {
        next if $rows[$i][0] =~ /^-+$/;
        next if $rows[ $i + 1 ] && $rows[ $i + 1 ][0] =~ /^-+$/;
        push @body, $rows[$i];
    }
    return @body;
}

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

# The shapes of a stream's events; equal neighbours are one.
sub shapes {
    my @all;
    for my $event (split /\n\n+/, $_[0]) {
        my ($data) = $event =~ /^data: (.*?)\s*\z/ or return "bad: $event";
        my $s = $data eq '[DONE]' ? $data : shape($json->decode($data));
        push @all, $s unless @all && $all[-1] eq $s;
    }
    return \@all;
}

# --- examples ----------------------------------------------------------------
my $d = Pen::Daemon->start;
my @examples = $page =~
    /^```http\n(\w+) (\S+)\n(.*?)^```\n\n```(\w+)\n(.*?)^```$/msg;
is scalar(my @all = $page =~ /^```\w/mg), @examples / 5 * 2,
    'every block is a request or its answer';
while (my ($method, $uri, $body, $kind, $want) = splice @examples, 0, 5) {
    my $r = ask($d, $method, $uri, length $body ? $body : undef);
    my $name = "$method $uri " . substr $body, 0, 50;
    if ($kind eq 'sse') {
        is_deeply shapes($r->{body}), shapes($want), $name;
        next;
    }
    my ($got, $shown) = map { $json->decode($_) } $r->{body}, $want;
    is shape($got), shape($shown), $name;
    is_deeply $got, $shown, "$name, word for word" if $shown->{error};
}

# --- routes ------------------------------------------------------------------
my @routes = table('Routes');
is_deeply [ map { "$_->[0] $_->[1]" } @routes ],
    [ map { s/^\{"|"$//gr =~ s/", "/ /r }
        slurp('src/api/route.c') =~ /(\{"\w+", "\S+")/g ],
    'the page has the routes of src/api/route.c';
for my $route (@routes) {
    my ($method, $path, $key, $allow) = @$route;
    $path =~ s/\*$/demo/;
    my $body = $method eq 'POST' ? '{}' : undef;
    my $status = ask($d, $method, $path, $body)->{status};
    is $status, $method eq 'POST' ? 400 : 200, "$method $path";
    is ask($d, 'HEAD', $path)->{status}, 200, "HEAD $path"
        if $allow =~ /HEAD/;
    my $r = ask($d, 'DELETE', $path);
    is "$r->{status} $r->{headers}{allow}", "405 $allow",
        "DELETE $path: Allow";
    $r = ask($d, $method, $path, $body, REMOTE_ADDR => '192.0.2.1');
    is $r->{status} == 401 ? 'yes' : 'no', $key, "$path: needs a key";
}
like ask($d, 'GET', '/health', undef, REMOTE_ADDR => '192.0.2.1')->{body},
    qr/^\{"status":"ok"\}$/, 'a stranger sees no figures';

# --- fields ------------------------------------------------------------------
my $compat = $json->decode(scalar
    qx(${\ Pen::Daemon::build() }/penstock compat --json));
my %use = map { $_->{field} => $_->{chat} }
    grep { defined $_->{chat} } @{ $compat->{fields} };
for my $row (table('Request fields')) {
    ok defined $use{$_}, "$_ is in penstock compat"
        for split /, /, $row->[0];
}

# --- errors ------------------------------------------------------------------
my %told = map { join(' ', @$_[ 0 .. 2 ]) => 1 } table('Errors');
my %sent;
sub sent {
    my ($r, $want, $name) = @_;
    my $e = $json->decode($r->{body})->{error};
    is join(',', sort keys %$e), 'code,message,param,type', "$name: keys";
    my $got = join ' ', $r->{status}, $e->{type}, $e->{code} // 'null';
    is $got, $want, $name;
    $sent{$got} = 1;
    return $r;
}
my $chat = '/v1/chat/completions';
my $hi = '{"messages":[{"role":"user","content":"Hi"}]}';
my $many = $json->encode({ prompt => 'word ' x 5000 });
sent(ask($d, 'POST', $chat, '{'), '400 invalid_request_error null', 'not JSON');
sent(ask($d, 'POST', '/v1/completions', $many),
    '400 invalid_request_error context_length_exceeded', 'a long prompt');
my $r = sent(ask($d, 'POST', $chat, $hi, REMOTE_ADDR => '192.0.2.1'),
    '401 authentication_error invalid_api_key', 'no key');
is $r->{headers}{'www-authenticate'}, 'Bearer realm="penstock"', 'its header';
sent(ask($d, 'GET', '/v1/nothing'), '404 not_found_error null', 'no route');
sent(ask($d, 'GET', '/v1/models/other'), '404 not_found_error model_not_found',
    'no model');
sent(ask($d, 'GET', $chat), '405 invalid_request_error method_not_allowed',
    'a method');
sent(ask($d, 'POST', $chat, undef, CONTENT_LENGTH => 1 << 40),
    '413 invalid_request_error request_too_large', 'a large body');
like $r->{headers}{'x-request-id'}, qr/^chatcmpl-\w{24}$/, 'X-Request-Id';
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
$r = sent(ask($d, 'POST', $chat, $hi), '503 server_busy null', 'a full queue');
is $r->{headers}{'retry-after'}, 5, 'Retry-After';
my ($first, $second) = map { $_->response(20)->{body} } @open;
like $first, qr/^: prefill \d+\/\d+\n\n(: prefill|data: )/, 'prefill lines';
like $first, qr/"finish_reason":"timeout".*\n\ndata: \[DONE\]\n\n\z/,
    'timeout';
like $second, qr/^(: waiting, position 1\n\n)+/, 'waiting lines';
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(args => { thinking => 'off' },
    env => { PENSTOCK_FAIL_AFTER => 3 });
sent(ask($d, 'POST', $chat, $hi), '500 server_error null', 'a failure');
$r = ask($d, 'POST', $chat, $stream);
like $r->{body}, qr/"finish_reason":"error".*"error":\{"message":"[^"]+",
    "type":"server_error","param":null,"code":null\}\}\n\n
    data:\ \[DONE\]\n\n\z/x, 'a failure within a stream';
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(
    model => 'contrib/demo-model/tiny-random-llama.gguf');
sent(ask($d, 'POST', $chat, $hi),
    '400 invalid_request_error unsupported_chat_format', 'no chat format');
is $d->stop, 0, 'ends well';

# Needs an engine that stands still: t/unit/api_gone.c.
ok delete $told{'429 rate_limit_error rate_limit_exceeded'}, '429 is told';
is_deeply \%sent, \%told, 'every error of the page was seen, and no other';
done_testing;
