# eventsource-parser reads the raw stream: nginx with TLS, the real daemon and
# the demo model.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
# the same texts as every set's, but slow enough to wait for
$ENV{PENSTOCK_CPU} = 'ref' unless $ENV{PENSTOCK_SANITIZER};
my $d = Pen::Daemon->start(args => { parallel => 1, 'wait-line-ms' => 50 });
my $key = $d->add_key('alice');
my $site = Pen::Nginx->start(socket => $d->{socket});
for my $h2 (0, 1) {
    Pen::Js::run('eventsource.mjs', site => $site, key => $key, h2 => $h2);
}
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
