# The same greedy question over chat, Responses and Messages, each with its
# official package, through nginx with TLS: one text.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
delete $ENV{$_} for grep { /^ANTHROPIC_/ } keys %ENV;
my $d = Pen::Daemon->start;
my $key = $d->add_key('alice');
my $site = Pen::Nginx->start(socket => $d->{socket});
for my $h2 (0, 1) {
    Pen::Js::run('three-dialects.mjs', site => $site, key => $key, h2 => $h2);
}
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
