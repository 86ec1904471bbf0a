# 32 streams at once have the bytes of the same requests alone; an abort frees
# the engine. Over HTTP/1.1 and HTTP/2.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
my $d = Pen::Daemon->start(args => { parallel => 32, context => 4096 });
my $site = Pen::Nginx->start(socket => $d->{socket});
for my $h2 (0, 1) {
    Pen::Js::run('parallel.mjs', site => $site, h2 => $h2);
}
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
