# Limits of a key as the official openai package sees them, through nginx with
# TLS, over HTTP/1.1 and HTTP/2.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
my $d = Pen::Daemon->start(args => { thinking => 'off', parallel => 8,
    'max-queue' => 200, 'limit-requests' => 60, 'limit-tokens' => 6000 });
my $site = Pen::Nginx->start(socket => $d->{socket});
for my $h2 (0, 1) {
    my $key = $d->add_key("alice$h2");
    Pen::Js::run('limits.mjs', site => $site, key => $key, h2 => $h2);
}
my @rows = $d->rows("error_type = 'rate'");
is scalar(grep { $_->{status} != 429 || !$_->{key_id} } @rows), 0,
    'refusals are rows of their key';
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
