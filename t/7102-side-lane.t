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
my $turn = Pen::Model::ask('A long turn:', 1000);
my $alone;

sub row { # of the last request with that limit, and when it began and ended
    my ($d, $tokens) = @_;
    my $r = ($d->wait_rows("max_tokens = $tokens AND state <> 'open'"))[-1];
    return { %$r, began => $r->{ts_ms} + $r->{queue_ms},
        ended => $r->{ts_ms} + $r->{total_ms} };
}

for my $slots (1, 0) {
    my $d = Pen::Daemon->start(model => $model, args => { parallel => 1,
        'side-slots' => $slots, threads => 1 });
    my $h = Pen::Http->new(my $n = Pen::Nginx->start(socket => $d->{socket}));
    $alone //= Pen::Model::text($h->stream($uri,
            { %$turn, max_tokens => 300 })->lines(120));
    my $long = $h->stream($uri, $turn);
    my @heard = $long->line(20 * $slow);
    ok $heard[0], 'a long turn runs';
    # one that is not short waits, whatever side slots are free
    my @w = map {
        my $f = Pen::Fcgi->connect($d->{socket});
        $f->send_request(uri => $uri, body => Pen::Http::json(
            Pen::Model::ask('Next:', $_, stream => JSON::PP::false)));
        $f;
    } 65, 8;
    is $_->response(120)->{status}, 200, 'answered' for @w;
    push @heard, $long->lines(120);
    my ($l, $not, $short) = map { row($d, $_) } 1000, 65, 8;
    cmp_ok $not->{began} + 50, '>=', $l->{ended},
        'what is not short begins when the turn has ended';
    if ($slots) {
        cmp_ok $short->{ended}, '<', $l->{ended},
            'what is short is answered before';
    } else {
        cmp_ok $short->{began} + 50, '>=', $l->{ended},
            'so does what is short where there is no side slot';
    }
    is substr(Pen::Model::text(@heard), 0, length $alone), $alone,
        "the turn's text is as alone";
    is $d->stop, 0, 'the daemon ends well';
}
done_testing;
