# Thousands of mixed requests, every fifth client leaving: memory stays, every
# request has its one closed row, the engine ends idle.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
my $total = $ENV{SOAK_REQUESTS} // 6000;
my $d = Pen::Daemon->start(args => { parallel => 16, context => 1024 });
my $site = Pen::Nginx->start(socket => $d->{socket});
local $ENV{PEN_REQUESTS} = 1500;
Pen::Js::run('soak.mjs', site => $site);
my $before = $d->proc('VmRSS');
local $ENV{PEN_REQUESTS} = $total;
Pen::Js::run('soak.mjs', site => $site);
ok $d->wait_load(0, 0, 10), 'the engine is idle';
my $after = $d->proc('VmRSS');
cmp_ok $after - $before, '<', 2048,
    "memory grew by @{[ $after - $before ]} KiB over $total requests";
is $d->health->{kv}{pages_used}, 0, 'no KV page is held';
is $d->health->{open}, 0, 'no exchange is open';
is $d->stop, 0, 'it ends with 0';
my @rows = $d->rows("endpoint = 'chat'");
is scalar @rows, 1500 + $total, 'every request has one row';
is_deeply [ grep { $_->{state} ne 'done' } @rows ], [], 'all of them closed';
done_testing;
