# /v1/responses: the official openai package, nginx with TLS, the real daemon
# and the demo model, over HTTP/1.1 and HTTP/2.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
# the same texts as every set's, but what is left has a middle
local $ENV{PENSTOCK_CPU} = 'ref' unless $ENV{PENSTOCK_SANITIZER};
my $d = Pen::Daemon->start(args => { 'responses-keep' => 1 });
my $key = $d->add_key('alice');
local $ENV{PEN_KEY2} = $d->add_key('bob');
my $site = Pen::Nginx->start(socket => $d->{socket});
for my $h2 (0, 1) {
    local $ENV{PEN_UNTYPED} = $h2;
    for my $program (qw(responses responses-stored langchain-responses)) {
        Pen::Js::run("$program.mjs", site => $site, key => $key, h2 => $h2);
    }
}
my @left = $d->wait_rows("finish_reason = 'abandoned'", 4);
is scalar @left, 4, 'each answer that was left has a row that says so';
is scalar(grep { !$_->{key_id} } @left), 0, 'under its key';
is scalar(grep { $_->{endpoint} !~ /responses/ } @left), 0, 'and its endpoint';
is $d->stop, 0, 'the daemon ends with 0';
unlike $d->log, qr/Paris|Anna|sunny/, 'its log has no text';

my $plain = Pen::Daemon->start;
Pen::Js::run('responses-unstored.mjs', h2 => 1,
    site => Pen::Nginx->start(socket => $plain->{socket}));
is $plain->stop, 0, 'a daemon that stores nothing ends with 0';
done_testing;
