# /v1/responses and /v1/messages against hostile callers, through nginx: long
# lists, deep nesting, broken text, tool types that would be header lines,
# metadata without end, bodies of 64 MiB, paths with slashes and escapes. Every
# answer is of the dialect's shape and repeats nothing, memory comes back, each
# generation or refusal has its row.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempfile);
use JSON::PP ();
use Time::HiRes qw(sleep time);
use Pen::Case;
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

need_demo();
my $mark = 'quagga7marker';
my $d = Pen::Daemon->scripted(args => { thinking => 'off',
    'log-level' => 'debug', 'responses-keep' => 1, handlers => 2 });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my %uri = (responses => '/v1/responses', messages => '/v1/messages');
my %hello = (responses => '"input":"Hi","max_output_tokens":1,"store":false',
    messages => '"messages":[{"role":"user","content":"Hi"}],"max_tokens":1');

# What is wrong with an answer, "" if nothing: 200 or a 4xx of the shape.
sub fault {
    my ($wire, $r, @statuses) = @_;
    my $status = $r->{status} // 0;
    return "status $status" unless grep { $_ == $status } @statuses;
    return 'it repeats the body' if "$r->{head}$r->{body}" =~ /$mark/;
    return '' if $status == 200;
    return 'no JSON' unless ref $r->{json} eq 'HASH';
    my $e = $r->{json}{error};
    my $keys = join ' ', sort keys %{ $r->{json} };
    my $inner = join ' ', sort keys %{ $e // {} };
    return "keys $keys / $inner" if "$keys/$inner" ne ($wire eq 'messages'
        ? 'error request_id type/message type'
        : 'error/code message param type');
    return 'long' if length $r->{body} > 1024;
    return '';
}

my $sent = 0;
sub tried {
    my ($name, $wire, $body, @statuses) = @_;
    my $r = $h->post($uri{$wire}, $body, max_time => 120);
    is fault($wire, $r, @statuses), '', "$wire: $name"
        or diag substr("$r->{head}\n$r->{body}", 0, 600);
    $sent++;
    return $r;
}

tried('a plain request', $_, "{$hello{$_}}", 200) for sort keys %uri;
my $before = $d->proc('VmRSS');

# --- lists and nesting -------------------------------------------------------
sub many { my ($n, $text) = @_; return join ',', ($text) x $n }
my $item = qq({"role":"user","content":"$mark"});
my $call = qq({"type":"function_call","call_id":"c","name":"f",)
    . qq("arguments":"{}"});
my $part = qq({"type":"input_text","text":"$mark"});
my $block = qq({"type":"text","text":"$mark"});
my $use = qq({"type":"tool_use","id":"t","name":"f","input":{}});
my $result = qq({"type":"tool_result","tool_use_id":"t","content":"$mark"});
sub input { return "{\"max_output_tokens\":1,\"store\":false,\"input\":$_[0]}" }
sub messages { return "{\"max_tokens\":1,\"messages\":$_[0]}" }
for my $n (2_000, 200_000) {
    tried("$n items", 'responses', input('[' . many($n, $item) . ']'), 400);
    tried("$n calls", 'responses', input("[$item," . many($n, $call) . ']'), 400);
    tried("$n parts", 'responses',
        input('[{"role":"user","content":[' . many($n, $part) . ']}]'), 400);
    tried("$n messages", 'messages', messages('[' . many($n, $item) . ']'), 400);
    tried("$n blocks", 'messages',
        messages('[{"role":"user","content":[' . many($n, $block) . ']}]'), 400);
    tried("$n uses", 'messages', messages("[$item,{\"role\":\"assistant\","
        . "\"content\":[" . many($n, $use) . "]},$item]"), 400);
    tried("$n results", 'messages', messages("[{\"role\":\"user\",\"content\":["
        . many($n, $result) . ']}]'), 400);
    tried("$n system blocks", 'messages', messages("[$item],\"system\":["
        . many($n, $block) . ']'), 400);
    tried("$n tools", $_, "{$hello{$_},\"tools\":[" . many($n,
        '{"type":"web_search"}') . ']}', 200) for sort keys %uri;
}
for my $levels (60, 200, 100_000) {
    my $deep = '{"a":' x $levels . '1' . '}' x $levels;
    my @ok = $levels == 60 ? (200, 400) : (400);
    for my $wire (sort keys %uri) {
        my ($type, $schema) = $wire eq 'messages' ? ('', 'input_schema')
            : ('"type":"function",', 'parameters');
        tried("a schema of $levels levels", $wire, "{$hello{$wire},\"tools\":"
            . "[{$type\"name\":\"f\",\"$schema\":$deep}]}", @ok);
        tried("metadata of $levels levels", $wire,
            "{$hello{$wire},\"metadata\":$deep}", $wire eq 'messages' ? @ok
            : 400);
        tried("an unknown field of $levels levels", $wire,
            "{$hello{$wire},\"x\":$deep}", @ok);
    }
    tried("an input of $levels levels", 'messages', messages("[$item,"
        . '{"role":"assistant","content":[{"type":"tool_use","id":"t",'
        . "\"name\":\"f\",\"input\":$deep}]},{\"role\":\"user\",\"content\":"
        . '[{"type":"tool_result","tool_use_id":"t"}]}]'), @ok);
    my $text = '[' x $levels . ']' x $levels;
    tried("arguments of $levels levels", 'responses', input("[$item,"
        . '{"type":"function_call","call_id":"c","name":"f","arguments":'
        . "\"$text\"},{\"type\":\"function_call_output\",\"call_id\":\"c\","
        . '"output":"1"}]'), 200, 400);
    tried("blocks of $levels levels", $_->[0], $_->[1], 400) for
        [ responses => input('[' x $levels . $item . ']' x $levels) ],
        [ messages => messages('[{"role":"user","content":' . (
            '[{"type":"tool_result","tool_use_id":"t","content":' x $levels)
            . '"x"' . '}]' x $levels . '}]') ];
}

# --- text that is none -------------------------------------------------------
my @broken = ("\xe6", "\xf0\x9f\x9a", "\xff", "\xc0\xaf", "\xed\xa0\x80",
    "\xf4\x90\x80\x80", '\\ud83d', '\\ude80', "\0", '\\', '\\x41');
for my $b (@broken) {
    my $name = 'broken ' . join ' ', map { sprintf '%02x', ord } split //, $b;
    for my $body ([ responses => "{\"input\":\"$mark$b\"}" ],
        [ responses => "{$hello{responses},\"metadata\":{\"$b\":\"1\"}}" ],
        [ responses => "{$hello{responses},\"tools\":[{\"type\":\"$b\"}]}" ],
        [ messages => messages("[{\"role\":\"user\",\"content\":\"$b\"}]") ],
        [ messages => "{$hello{messages},\"system\":\"$mark$b\"}" ]) {
        tried($name, @$body, 400);
    }
}
my $nul = tried('NUL is data', 'responses',
    '{"max_output_tokens":1,"store":false,"input":"a\\u0000b"}', 200);
tried('NUL is data', 'messages',
    messages('[{"role":"user","content":"a\\u0000b"}]'), 200);

# --- header lines in tool types ----------------------------------------------
my @types = ("x\r\nX-Evil: 1", "x\nSet-Cookie: a=b", "a\0b", "\x{202e}abc",
    '"><script>', 'a, b', 'x' x 10_000, '', ' ', map { "tool_$_" } 1 .. 100);
for my $wire (sort keys %uri) {
    my $tools = JSON::PP->new->ascii->encode([ map { { type => $_,
        name => 'n' } } @types ]);
    my $r = tried('hostile tool types', $wire, "{$hello{$wire},\"tools\":$tools}",
        200, 400);
    unlike $r->{head}, qr/^(?:X-Evil|Set-Cookie)/mi, 'no header of theirs';
    next if $r->{status} != 200;
    my $line = $r->{headers}{'x-skipped-tools'} // '';
    like $line, qr/\A[\w.,\- ]*\z/, 'only plain characters';
    cmp_ok length $line, '<=', 256, 'and few';
    my @words = split /, /, $line;
    my %once = map { $_ => 1 } @words;
    is scalar(keys %once), scalar @words, 'each once';
    is_deeply $r->{json}{skipped_tools}, \@words, 'the body has the same';
}

# --- metadata ----------------------------------------------------------------
my $pair = sub { join ',', map { "\"k$_\":\"$mark\"" } 1 .. $_[0] };
tried("metadata of $_ pairs", 'responses',
    "{$hello{responses},\"metadata\":{${\ $pair->($_)}}}", 400)
    for 17, 100_000;
tried('metadata with 1 MB in it', 'responses', "{$hello{responses},"
    . '"metadata":{"k":"' . $mark x 80_000 . '"}}', 400);
tried('a user_id of 1 MB', 'messages', "{$hello{messages},\"metadata\":"
    . '{"user_id":"' . $mark x 80_000 . '"}}', 200, 400);
tried('client_metadata of 100,000 pairs', 'responses', "{$hello{responses},"
    . "\"client_metadata\":{${\ $pair->(100_000)}}}", 200, 400);

# --- 64 MiB ------------------------------------------------------------------
my ($fh, $file) = tempfile('pbig-XXXXXX', TMPDIR => 1, UNLINK => 1);
sub big {
    my ($head, $tail, $bytes) = @_;
    seek $fh, 0, 0;
    truncate $fh, 0;
    print $fh $head;
    my $left = $bytes - length($head) - length $tail;
    print $fh 'x' x ($left > 1 << 20 ? 1 << 20 : $left)
        and $left -= 1 << 20 while $left > 0;
    print $fh $tail;
    $fh->flush;
    return "\@$file";
}
my $most = 64 << 20;
for my $case ([ responses => '{"store":false,"input":"', '"}' ],
    [ messages => '{"max_tokens":1,"messages":[{"role":"user","content":"',
        '"}]}' ]) {
    my ($wire, @ends) = @$case;
    tried('64 MiB', $wire, big(@ends, $most), 400);
    my $r = $h->post($uri{$wire}, big(@ends, $most + 1), max_time => 120);
    is $r->{status}, 413, "$wire: a byte more";
}

# --- paths -------------------------------------------------------------------
my @ids = ('resp_', 'resp_' . '0' x 24, 'resp_' . '0' x 25, 'x', '%2e%2e',
    '..%2f..%2fmodels', 'a%2fb', 'resp_%00', '%', '%zz', 'resp_' . 'f' x 7_000,
    "resp_' OR 1=1 --" =~ s/ /%20/gr, '%ff%fe', '*', "resp_$mark",
    'resp_' . '0' x 24 . '/input_items', 'resp_' . '0' x 24 . '/nothing',
    'resp_' . '0' x 24 . '/input_items/' . 'a', 'input_tokens/x');
for my $id (@ids) {
    for my $method (qw(GET DELETE POST)) {
        my $path = "/v1/responses/$id" . ($method eq 'POST' ? '/cancel' : '');
        my $r = $h->ask($path, $method eq 'POST' ? '{}' : undef,
            curl => [ '-X', $method, '--path-as-is' ]);
        ok +(grep { $_ == ($r->{status} // 0) } 400, 404, 405, 414),
            "$method " . substr($path, 0, 50) . ": $r->{status}";
        unlike $r->{body}, qr/$mark|SQL|sqlite/i, 'says nothing of it';
    }
}

# --- afterwards --------------------------------------------------------------
# A handler may keep what its largest body needed, once.
SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    tried('200,000 items, again', 'responses',
        input('[' . many(200_000, $item) . ']'), 400) for 1 .. 8;
    cmp_ok $d->proc('VmRSS'), '<', $before + 2 * 72 * 1024,
        'memory is bounded by two bodies';
}
my @rows = $d->wait_rows("endpoint IN ('responses', 'messages') "
    . "AND state <> 'open' AND status NOT IN (404, 405)", $sent, 30);
my %by;
$by{ $_->{status} }++ for @rows;
cmp_ok scalar @rows, '>=', $sent, 'a row each';
is join(' ', sort keys %by), '200 400', 'served or refused';
is_deeply [ $d->rows("state = 'open'") ], [], 'none open';
is $d->health->{waiting} + $d->health->{open}, 0, 'and none waits';
for my $path ($d->{logfile}, glob "$d->{db}*") {
    open my $in, '<:raw', $path or die "$path: $!";
    my $text = do { local $/; <$in> };
    unlike $text, qr/$mark/, 'nothing of a body in ' . $path =~ s{.*/}{}r;
}
tried('a plain request after', $_, "{$hello{$_}}", 200) for sort keys %uri;
is $d->stop, 0, 'ends well';
done_testing;
