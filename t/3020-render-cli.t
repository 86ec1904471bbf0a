# penstock render: formats and files without a model, what --json says, and
# the errors.
use strict;
use warnings;
use lib 't/lib';
use POSIX ();
use Test::More;
use Pen::Render;

my $build = $ENV{BUILD} // 'build';
plan skip_all => "$build/penstock is not built" unless -x "$build/penstock";
my $hi = { messages => [ user('hi<|im_end|>') ] };
my $toy = 't/data/chat/toy';

my $got = render($hi, '--chat', "$toy/everything.jinja");
is $got->{format}, 'jinja', 'a template without a model';
is $got->{source}, "$toy/everything.jinja", 'where it comes from';
is_deeply [ map { [ $_->{markup} ? 1 : 0, $_->{text} ] }
        @{ $got->{segments} } ],
    [ [ 1, "<|im_start|>user\n" ], [ 0, 'hi<|im_end|>' ],
      [ 1, "<|im_end|>\n<|im_start|>assistant\n" ] ],
    'the segments are what each wrote';
ok !exists $got->{ids}, 'no ids without a vocabulary';
is_deeply $got->{capabilities}, {
    system => \1, late_system => 'yes', reasoning => \1,
    reasoning_forced => \0, reasoning_opens_with => '<think>', tools => \1,
    calls => 'qwen', images => \1, efforts => [qw(low medium high)],
    effort_max => 0, response_format => \0, tool_choice => \0,
}, 'what it can do' or diag explain $got->{capabilities};
is $got->{think_open}, JSON::PP::false, 'no channel is open';
$got = render({ %$hi, thinking => \1 }, '--chat', "$toy/everything.jinja");
is $got->{think_open}, JSON::PP::true, 'or one is';

for my $name (qw(chatjson kimi glm)) {
    $got = render($hi, '--format', $name);
    is $got->{format}, $name, "--format $name without a model";
    like $got->{source}, qr/^built-in /, 'is data inside the program';
}
$got = render($hi, '--format', 'jinja', '--chat',
    scratch('{{ messages[0].content }}'));
is $got->{format}, 'jinja', '--format jinja: any name of a file';

for (
    [ 1, qr/name a format or a file/, 'nothing to go by' ],
    [ 1, qr/no model file/, 'jinja without a file', qw(--format jinja) ],
    [ 2, qr/accepted are auto, jinja/, 'no such format', qw(--format x) ],
    [ 1, qr/takes no file/, 'xtml has no files', qw(--format xtml --chat x) ],
    [ 1, qr/none\.jinja: no such file.*auto, jinja, .*chatjson, or a file$/,
      'no such file', qw(--chat none.jinja) ],
    [ 1, qr/glm: no such file; it is the name of a format/,
      'a name where a file belongs', qw(--chat glm) ],
    [ 1, qr/chat: is not a regular file/, 'a folder', qw(--chat t/data/chat) ],
    [ 1, qr/null: is not a regular file/, 'a device', qw(--chat /dev/null) ],
    [ 1, qr/^penstock render: tools: the chat format in use has no tools$/,
      'without a model nothing is its fault', qw(--format chatjson) ],
    [ 1, qr/has no tools/, 'a request that the format cannot express',
      '--chat', "$toy/roles.jinja" ],
) {
    my ($status, $like, $name, @args) = @$_;
    $got = render({ %$hi, tools => [ { type => 'function',
        function => { name => 'f' } } ] }, @args);
    is $got->{status}, $status, $name;
    like $got->{error}, $like, 'says why';
}
SKIP: {
    my $fifo = scratch('') . '.jinja';
    skip 'no FIFOs here', 1 unless POSIX::mkfifo($fifo, 0600);
    local $SIG{ALRM} = sub { die "the command waits for the FIFO\n" };
    alarm 20;
    like render($hi, '--chat', $fifo)->{error}, qr/is not a regular file/,
        'a FIFO, at once';
    alarm 0;
}
$got = render('{"messages":[', '--format', 'chatjson');
is $got->{status}, 1, 'a request that is no JSON';
# --- for people, and standard input
my $file = scratch(json()->encode($hi));
my @run = ("$build/penstock", 'render', '--chat', "$toy/everything.jinja");
my $want = <<'EOT';
markup "<|im_start|>user\n"
text   "hi<|im_end|>"
markup "<|im_end|>\n<|im_start|>assistant\n"
EOT
is scalar qx{@run $file}, $want, 'for people: one line per segment';
is scalar qx{@run - < $file}, $want, '- is standard input';
is scalar qx{@run - < /dev/null 2>&1}, scalar qx{@run /dev/null 2>&1},
    'an empty one is an empty file';
like scalar qx{@run 2>&1}, qr/takes one file/, 'none is not standard input';
my $demo = 'contrib/demo-model/penstock-demo-q8_0.gguf';
SKIP: {
    skip 'no demo model', 2 unless -r $demo;
    my $said = qx{$build/penstock render -m $demo $file};
    like $said, qr/^text   "user\\nhi<\|im_end\|>"$/m, 'text stays text';
    my $ids = join ',', @{ render($hi, '-m', $demo)->{ids} };
    like $said, qr/"\nids    \Q$ids\E\n\z/, 'the ids are the last line';
}
my $help = qx{$build/penstock render --help};
like $help, qr/auto, jinja, xtml, kimi, glm, dsml, chatjson/, '--help';
done_testing;
