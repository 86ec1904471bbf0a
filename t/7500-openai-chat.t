# The official openai package against nginx with TLS and the real daemon.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
my $d = Pen::Daemon->start;
my $key = $d->add_key('alice');
my $site = Pen::Nginx->start(socket => $d->{socket});
for my $h2 (0, 1) {
    Pen::Js::run('chat.mjs', site => $site, key => $key, h2 => $h2);
}
Pen::Js::run('fields.mjs', site => $site, key => $key, h2 => 1);
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
