# Random requests to /v1/responses and /v1/messages by their official packages,
# with limits that cut anywhere: what is whole and what is streamed is one
# answer. PEN_SEED and PEN_COUNT ask for others and for more.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
delete $ENV{$_} for grep { /^ANTHROPIC_/ } keys %ENV;
local $ENV{PEN_COUNT} = $ENV{PEN_COUNT} // 40;
my $d = Pen::Daemon->start;
my $site = Pen::Nginx->start(socket => $d->{socket});
Pen::Js::run('dialects-random.mjs', site => $site, h2 => 1,
    key => $d->add_key('alice'));
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
