# Which chat format a model gets: the order of docs/operations.md, over small
# models; and the line that the daemon prints at start.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Render;

my $build = Pen::Daemon::build();
plan skip_all => "$build/penstock is not built" unless -x "$build/penstock";
my $toy = 't/data/chat/toy';
my $hi = { messages => [ user('hi') ] };
my $tools = [ { type => 'function', function => { name => 'f' } } ];

sub is_format {
    my ($got, $name, $source, $test) = @_;
    is $got->{format}, $name, $test or diag $got->{error};
    like $got->{source}, $source, 'from there';
}
my $file = model('both', '--template', "$toy/parts.jinja", '--template',
    "tool_use=$toy/everything.jinja");
is_format(render($hi, '-m', $file), 'jinja',
    qr/^tokenizer\.chat_template of .*both\.gguf$/, 'the template');
my $got = render({ %$hi, tools => $tools }, '-m', $file);
like join('', map { $_->{text} } @{ $got->{segments} }),
    qr/^<\|im_start\|>tools\n/, 'its variant for requests with tools';
is_format(render($hi, '-m', $file, '--format', 'chatjson'), 'chatjson',
    qr/^built-in /, 'a name goes before the template');
is_format(render($hi, '-m', $file, '--chat', "$toy/roles.jinja"), 'jinja',
    qr/roles\.jinja$/, 'a file, too');
$got = render($hi, '-m', $file, '--format', 'kimi');
like $got->{error}, qr/\Q<|im_system|>\E/, 'a name allows nothing else';

(my $beside = $file) =~ s{[^/]*$}{chat.json};
spit($beside, '{"user":["<|im_start|>u ","<|im_end|>"],'
    . '"assistant":["<|im_start|>a ","<|im_end|>"],"open":"<|im_start|>a "}');
is_format(render($hi, '-m', $file), 'chatjson', qr/chat\.json$/,
    'a chat.json beside the model goes before the template');
is_format(render($hi, '-m', $file, '--format', 'jinja'), 'jinja',
    qr/chat_template/, 'unless the template is asked for');
spit($beside, '{"user":7}');
like render($hi, '-m', $file)->{error}, qr/chat\.json: user/,
    'and a broken one is an error, not a guess';

# Formats that are recognised by their tokens go before all files.
sub with_tokens {
    my ($name, @tokens) = @_;
    my $file = model($name, '--template', "$toy/parts.jinja",
        map { ('--control', $_) } @tokens);
    (my $beside = $file) =~ s{[^/]*$}{chat.json};
    spit($beside, '{"user":7}');
    return $file;
}
my @xtml = map { "<|$_|>" } qw(open close sep end_of_msg);
my ($bar, $low) = ("\xef\xbd\x9c", "\xe2\x96\x81");
my @dsml = ((map { "<$bar$_$bar>" } "begin${low}of${low}sentence",
    "end${low}of${low}sentence", qw(User Assistant System latest_reminder
    action query authority domain title read_url)), "${bar}DSML$bar",
    "<${bar}deepseek_image$bar>");
is_format(render($hi, '-m', with_tokens('xtml', @xtml)), 'xtml',
    qr/^built-in xtml$/, 'the markers of XTML');
is_format(render($hi, '-m', with_tokens('dsml', @dsml)), 'dsml',
    qr/^built-in dsml$/, 'those of DSML');
like render($hi, '-m', with_tokens('less', @xtml[0 .. 2]))->{error},
    qr/chat\.json: user/, 'not when one is missing';
like render($hi, '-m', model('three', map { ('--control', $_) } @xtml[0 .. 2]),
    '--format', 'xtml')->{error}, qr/\Q<|end_of_msg|>\E/, 'which is named';

my $bad = scratch("one\n{% endfor %}");
is_format(render($hi, '-m', model('broken', '--template', $bad)), 'chatjson',
    qr/^built-in chatml-think\.json; not template line 2: /,
    'a broken template: built-in data, and the reason');
$bad = scratch("{% if messages %}{{ raise_exception('never') }}{% endif %}");
is_format(render($hi, '-m', model('refuses', '--template', $bad)), 'chatjson',
    qr/^built-in chatml-think\.json; not template: .*line 1: never$/,
    'one that refuses every conversation, too');
# The same when it is only the variant for tools: the good one serves.
my $plain = qr/^tokenizer\.chat_template of .*\.gguf; not /;
my @parts = ('--template', "$toy/parts.jinja", '--template');
$bad = scratch("one\n{% endfor %}");
$file = model('variant', @parts, "tool_use=$bad");
is_format(render($hi, '-m', $file), 'jinja',
    qr/${plain}tokenizer\.chat_template\.tool_use line 2: \S/,
    'a broken variant: the plain template, and the reason');
is_format(render($hi, '-m', $file, '--format', 'jinja'), 'jinja', $plain,
    'by name, too');
$file = model('neither', '--template', $bad, '--template', "tool_use=$bad");
is_format(render($hi, '-m', $file), 'chatjson',
    qr/^built-in chatml-think\.json; not template line 2: /,
    'both broken: built-in data');
is_format(render($hi, '-m', model('none')), 'chatjson', qr/^built-in [^;]*$/,
    'no template: built-in data');

SKIP: {
    skip 'no penstockd: make first', 8 unless -x "$build/penstockd";
    my $d = Pen::Daemon->start;
    my @lines = grep { / chat_format / } split /\n/, $d->log;
    is @lines, 1, 'one line at start';
    like $lines[0], qr/ info chat_format format=jinja from="tokenizer\.chat_template of /,
        'which, from where';
    like $lines[0], qr/ with="a reasoning channel, tools, no images"$/, 'and what it can do';
    is $d->stop, 0, 'ends well';
    $d = Pen::Daemon->start(args => { 'chat-format' => 'chatjson' });
    like $d->log, qr/ format=chatjson from="built-in /, 'a name as setting';
    $d->stop;
    $d = Pen::Daemon->start(
        args => { 'chat-format' => "$toy/everything.jinja" });
    like $d->log, qr/ format=jinja from="\Q$toy\E.* efforts low/, 'or a file';
    $d->stop;
    my $said = qx{$build/penstockd --model=$Pen::Daemon::DEMO --chat-format=nonsense --db=$bad.db --socket=$bad.sock 2>&1};
    isnt $?, 0, 'neither a name nor a file';
    like $said, qr/nonsense: no such file, and no format of that name; accepted are auto, jinja, .*or a file/,
        'says what is accepted';
}
done_testing;
