# A model without a usable chat format: chats are refused with each reason,
# everything else is served. A format that was asked for by name is a reason
# not to start.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp 'tempdir';
use JSON::PP ();
use Pen::Daemon;
use Pen::Gguf 'gguf_check';

my $build = Pen::Daemon::build();
my $node  = -x 't/js/node_modules/.bin/node' ? 't/js/node_modules/.bin/node'
    : (grep { -x } map { "$_/node" } split /:/, $ENV{PATH})[0];
plan skip_all => 'no penstockd: make first' unless -x "$build/penstockd";
plan skip_all => 'no node on this machine' unless $node;
$ENV{NODE} = $node;
my $json = JSON::PP->new->utf8;
my $tmp = tempdir(CLEANUP => 1);
my ($status, $out, $err) = gguf_check('contrib/mkmodel', qw(--layers 1
    --width 64 --heads 2 --kv-heads 1 --ff 64 --vocab synthetic:300
    --bare --control <end>), '-o', "$tmp/bare.gguf");
is $status, 0, 'a model without markers' or BAIL_OUT($err);

my $d = Pen::Daemon->start(model => "$tmp/bare.gguf");
like $d->log, qr/ warn no_chat_format /, 'the log says so';
unlike $d->log, qr/ info chat_format /, 'and claims nothing';
my $ask = sub {
    my ($uri, $body) = @_;
    return Pen::Fcgi->request($d->{socket}, uri => $uri, timeout => 30,
        defined $body ? (body => $json->encode($body)) : ());
};
my $r = $ask->('/v1/chat/completions',
    { messages => [ { role => 'user', content => 'hi' } ] });
is $r->{status}, 400, 'a chat is refused';
my $e = $json->decode($r->{body})->{error};
is $e->{code}, 'unsupported_chat_format', 'with its code';
like $e->{message}, qr/\b$_\b/, "and the reason of $_"
    for qw(xtml dsml chat.json template chatml.json);
like $e->{message}, qr/\Q<|im_start|>\E/, 'which name what is missing';
$r = $ask->('/v1/completions', { prompt => 'hi', max_tokens => 2 });
is $r->{status}, 200, 'completions are served';
is $ask->('/health')->{status}, 200, 'and /health';
$r = $ask->('/v1/models');
is $r->{status}, 200, 'and /v1/models';
is $json->decode($r->{body})->{data}[0]{penstock}{chat}, JSON::PP::false,
    'which says that there is no chat';
$d->stop;

for my $format (qw(jinja kimi chatjson)) {
    my $said = qx{$build/penstockd --model $tmp/bare.gguf --db $tmp/db \\
        --socket $tmp/s --chat-format $format 2>&1};
    is $? >> 8, 1, "chat-format $format: no start without it";
    unlike $said, qr/no_chat_format/, 'and no warning in its place';
}
done_testing;
