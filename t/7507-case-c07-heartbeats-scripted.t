# C07: a stream that begins with comment lines, read by the official client.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Http;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
my $d = Pen::Daemon->scripted(env => { PENSTOCK_PREFILL_US => 1_500_000 },
    args => { 'prefill-line-ms' => 100, 'wait-line-ms' => 100 });
my $site = Pen::Nginx->start(socket => $d->{socket});
my $s = Pen::Http->new($site)->stream('/v1/chat/completions', Pen::Http::chat(3));
my $first = $s->line(20);
like $first->[1], qr/^: /, 'the stream begins with a comment line';
$s->abort;
for my $h2 (0, 1) {
    Pen::Js::run('heartbeats.mjs', site => $site, h2 => $h2);
}
is $d->stop, 0, 'ends well';
done_testing;
