# Check 102: a short request during a long turn is answered before the turn
# ends, and the turn's text is what it is alone; with side-slots 0 it waits.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Http;
use Pen::Model;
use Pen::Nginx;

plan skip_all => 'no penstockd' unless -x Pen::Daemon::build() . '/penstockd';
my $slow = $ENV{PENSTOCK_SANITIZER} ? 10 : 1;
my $model = Pen::Model::slow();
my $uri = '/v1/completions';
my $turn = Pen::Model::ask('A long turn:', 800);
my $alone;

for my $slots (1, 0) {
    my $d = Pen::Daemon->start(model => $model, args => { parallel => 1,
        'side-slots' => $slots, threads => 1 });
    my $h = Pen::Http->new(my $n = Pen::Nginx->start(socket => $d->{socket}));
    $alone //= Pen::Model::text($h->stream($uri, $turn)->lines(120));
    my $long = $h->stream($uri, $turn);
    ok $long->line(20 * $slow), 'a long turn runs';
    my $r = $h->post($uri, Pen::Model::ask('Short:', 8,
            stream => JSON::PP::false));
    is $r->{status}, 200, 'a short request is answered';
    my @rows = $d->wait_rows("state = 'done'", 1);
    my $still = $d->health->{running};
    is $still, $slots, $slots ? 'before the turn ends' : 'after the turn';
    # one more that is not short waits, whatever side slots are free
    my $w = $slots ? $h->stream($uri, Pen::Model::ask('Longer:', 65)) : undef;
    ok $d->wait_load(1, 1, 20 * $slow), 'one that is not short waits' if $w;
    my $rest = Pen::Model::text($long->lines(120));
    is $rest, substr($alone, -length $rest), "the turn's text is as alone";
    $w->lines(60) if $w;
    is $d->stop, 0, 'the daemon ends well';
}
done_testing;
