# penstock parse: text and lists of tokens into the message a client would
# get. The call form in the examples is that of the published GLM 4.5 chat
# template; what is expected follows from the texts.
use strict;
use warnings;
use File::Temp 'tempdir';
use JSON::PP;
use Test::More;

my $bin = ($ENV{BUILD} // 'build') . '/penstock';
plan skip_all => "$bin is not built" unless -x $bin;
my $tmp = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->utf8->canonical;
my $demo = 'contrib/demo-model/penstock-demo-q8_0.gguf';

sub file {
    my ($name, $text) = @_;
    open my $out, '>:raw', "$tmp/$name" or die $!;
    print $out $text;
    close $out;
    return "$tmp/$name";
}

sub run {
    my ($input, @args) = @_;
    my $file = file('reply', ref $input ? $json->encode($input) : $input);
    my $said = qx($bin parse @args $file 2>&1);
    return ($said, $? >> 8);
}

# The message of --json, ids of calls checked and left out.
sub parse {
    my ($input, @args) = @_;
    my ($said, $rc) = run($input, @args, '--json');
    return $said if $rc;
    my $got = $json->decode($said);
    for my $call (@{ $got->{message}{tool_calls} // [] }) {
        like delete $call->{id}, qr/^call_[0-9a-f]{24}$/, 'an id';
        is delete $call->{type}, 'function', 'its type';
        $call = [ @{ $call->{function} }{qw(name arguments)} ];
    }
    return $got;
}

sub message {
    my ($finish, %m) = @_;
    return { finish_reason => $finish, message => { role => 'assistant',
        refusal => undef, content => '', %m } };
}

my $tools = file('tools.json', $json->encode([
    { type => 'function', function => { name => 'f', parameters => {
        type => 'object', properties => { n => { type => 'integer' },
            s => { type => 'string' } } } } } ]));
my $call = sub { "<tool_call>f\n<arg_key>n</arg_key>\n<arg_value>$_[0]"
    . "</arg_value>\n<arg_key>s</arg_key>\n<arg_value>$_[0]</arg_value>\n"
    . '</tool_call>' };

{
    my ($said) = run('<|tool_calls_section_begin|><|tool_call_begin|>'
        . 'functions.f:0<|tool_call_end|><|tool_calls_section_end|>',
        '--format kimi', '--tools', $tools, '--json');
    my $got = $json->decode($said)->{message}{tool_calls}[0];
    is "$got->{id} $got->{function}{arguments}", 'functions.f:0 {}',
        'a call without arguments has an empty object of them';
}

# --- text
is_deeply parse("<think>\nhm\n</think>\n\nHi \xf0\x9f\x98\x80",
    '--format plain'), message('stop', content => "Hi \x{1f600}",
    reasoning_content => 'hm'), 'plain: reasoning and content';
is_deeply parse('a</think>b', '--format plain --think-open'),
    message('stop', content => 'b', reasoning_content => 'a'), 'think-open';
is_deeply parse('ab', '--format plain --cut'),
    message('length', content => 'ab'), 'cut';
is_deeply parse('', '--format plain'), message('stop'), 'nothing';
is_deeply parse("\xff", '--format plain'),
    message('stop', content => "\x{fffd}"), 'a byte that is no text';
is_deeply parse($call->('05'), "--format glm --tools $tools"),
    message('tool_calls', content => undef,
        tool_calls => [ [ 'f', '{"n": "05", "s": "05"}' ] ]),
    'a number with a leading zero is none';
is_deeply parse('x' . $call->(42), "--format glm --tools $tools"),
    message('tool_calls', content => 'x',
        tool_calls => [ [ 'f', '{"n": 42, "s": "42"}' ] ]),
    'a call, typed by its schema';
my $request = file('request.json', $json->encode({ parallel_tool_calls =>
    JSON::PP::false, tools => $json->decode(scalar qx(cat $tools)),
    messages => [ { role => 'user', content => 'x' } ] }));
is_deeply parse($call->(1) . $call->(2), "--format glm --tools $request"),
    message('tool_calls', content => undef,
        tool_calls => [ [ 'f', '{"n": 1, "s": "1"}' ] ]),
    'check 25: of two calls the first, when a request says so';
for my $body ('{"tools":%s}', '{"tools":%s,"messages":null} ',
    ' {"parallel_tool_calls":null,"tools":%s}') {
    my $file = file('body.json', sprintf $body, scalar qx(cat $tools));
    is_deeply parse($call->(1), "--format glm --tools $file"),
        message('tool_calls', content => undef,
            tool_calls => [ [ 'f', '{"n": 1, "s": "1"}' ] ]),
        "a body that has no more than tools: $body";
}
is_deeply parse($call->(1) . $call->(2), "--format glm --tools $tools"),
    message('tool_calls', content => undef, tool_calls => [
        map { [ 'f', qq({"n": $_, "s": "$_"}) ] } 1, 2 ]),
    'both, when it does not';
is_deeply parse($call->(1), '--format glm')->{message}{tool_calls}, undef,
    'check 98: no tools were offered: no calls';

# --- lists of tokens
sub pieces { return [ map { ref $_ ? { id => $$_[0], piece => $$_[1] }
    : { id => undef, piece => $_ } } @_ ] }
my @marks = map { [ 7, $_ ] } '<tool_call>', '<arg_key>', '</arg_key>',
    '<arg_value>', '</arg_value>', '</tool_call>';
is_deeply parse(pieces($marks[0], 'f', $marks[1], 's', @marks[2, 3],
    'a</tool_call>', @marks[4, 5]), "--format glm --tools $tools"),
    message('tool_calls', content => undef,
        tool_calls => [ [ 'f', '{"s": "a</tool_call>"}' ] ]),
    'pieces: a marker without an id is text';
is_deeply parse([ { piece => '<tool_call>f</tool_call>' } ],
    "--format glm --tools $tools"),
    message('stop', content => '<tool_call>f</tool_call>'),
    'pieces: without an id nothing is a marker';
is_deeply parse('[{"a":1}]', '--format plain'),
    message('stop', content => '[{"a":1}]'), 'another list is text';

# --- a model's own ids
SKIP: {
    skip 'no demo model', 3 unless -r $demo;
    my %id;
    for my $m ('<think>', '</think>', '<|im_end|>') {
        my $ids = qx($bin tokenize --markup -m $demo '$m' 2>/dev/null);
        $id{$m} = 0 + $1 if $ids =~ /(\d+)/;
    }
    skip 'no ids of markers', 3 if grep { !defined } values %id;
    is_deeply parse(pieces([ $id{'<think>'}, '?' ], 'a</think>',
        [ $id{'</think>'}, '?' ], 'b', [ $id{'<|im_end|>'}, '?' ]),
        "-m $demo"), message('stop', content => 'b',
        reasoning_content => 'a</think>'), 'a model: ids count, not pieces';
    is_deeply parse("<think>a</think>b", "-m $demo"),
        message('stop', content => 'b', reasoning_content => 'a'),
        'a model, text';
    like +(run(pieces([ 1 << 30, 'x' ]), "-m $demo"))[0],
        qr/reply: \[0\]\.id: is not in the vocabulary/, 'an id too high';
}

# --- for people, and what is wrong
my ($said) = run("<think>a</think>b\n" . $call->(5),
    "--format glm --tools $tools");
is $said, <<'EOT', 'for people';
reasoning "a"
content   "b\n"
call      "f"
arguments "{\"n\": 5, \"s\": \"5\"}"
finish    tool_calls
EOT
($said) = run('x' . $call->(1) . $call->(2), "--format glm --tools $request");
is $said, <<'EOT', 'for people: a call that was dropped is not there';
content   "x"
call      "f"
arguments "{\"n\": 1, \"s\": \"1\"}"
finish    tool_calls
EOT
($said) = run($call->(1), '--format glm');
is $said, "finish    stop\n", 'for people: nor one when nothing was offered';
my $whole = $call->(1);
my $block = sub { "<tool_call><function=f>$_[0]</function></tool_call>" };
my ($n, $text) = ('<parameter=n>1</parameter>', '<parameter=s>x</parameter>');
($said) = run($block->($n) . "<tool_call><function=f>$n",
    "--format qwen --tools $tools --cut");
is $said, <<'EOT', 'for people: a limit inside the second call';
content   "<tool_call><function=f><parameter=n>1</parameter>"
call      "f"
arguments "{\"n\": 1}"
finish    length
EOT
($said) = run($block->("$n<br $text"), "--format qwen --tools $tools");
is $said, <<'EOT', 'for people: a call that was withdrawn is not there';
call      "f"
arguments "{\"n\": 1, \"s\": \"x\"}"
finish    tool_calls
EOT
is_deeply parse($whole, "--format glm --tools $tools --cut"),
    message('length', content => undef,
        tool_calls => [ [ 'f', '{"n": 1, "s": "1"}' ] ]),
    'cut behind a call: the call counts, the reason is the limit';
for ([ '', qr/needs --format or --model/ ],
    [ '--format nothing', qr/no such format/ ],
    [ "--format plain -m $demo", qr/one of/ ],
    [ '--format plain a b', qr/takes one file/ ]) {
    my ($text, $rc) = run('x', $_->[0]);
    is $rc, 2, "$_->[0]: usage";
    like $text, $_->[1], 'says what is wrong';
}
my $bad = file('bad.json', '[{"function":{}}]');
($said, my $rc) = run('x', "--format plain --tools $bad");
is $rc, 1, 'tools that are none';
like $said, qr/ \Q$bad\E: tools\[0\]\.function\.name/, 'are named';
for ([ '{', qr/parse error/ ], [ '', qr/parse error/ ],
    [ '7', qr/must be a list/ ],
    [ '{}', qr/must be a list of tools, or an object with tools/ ],
    [ '{"tools":7}', qr/tools: must be a list/ ]) {
    my ($said, $rc) = run('x', '--format plain --tools '
        . file('bad.json', $_->[0]));
    is $rc, 1, "tools that are '$_->[0]'";
    like $said, qr/ \Q$bad\E: $_->[1]/, 'name the file';
}
for my $name (qw(plain xtml kimi glm dsml qwen hermes llama3 mistral
    deepseek)) {
    is +(run('x', "--format $name"))[1], 0, "$name is a format";
    like qx($bin parse --help), qr/\b$name\b/, 'and the help says so';
}
done_testing;
