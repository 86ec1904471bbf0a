# Checks 100 and 101: a stream that waits has comments and no data before its
# first token: place, estimate once there is one, time so far. A request that
# is not streamed gets 429 after queue-timeout. (The settings are a
# fraction of what they are by default.)
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
# Waits of under two seconds have no estimate: enough for a fast machine.
my $long = $ENV{PENSTOCK_SANITIZER} ? 600 : 2400;
my $d = Pen::Daemon->start(model => Pen::Model::slow(), args => {
    parallel => 1, 'side-slots' => 0, threads => 1,
    'wait-line-ms' => 400, 'queue-timeout' => 1 });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $uri = '/v1/completions';

# Ended ones, so that there is an estimate.
$h->stream($uri, Pen::Model::ask("Before $_:", $long / 2))->lines(120)
    for 1 .. 5;
my @ahead = map { $h->stream($uri, Pen::Model::ask("Long $_:", $long)) } 1 .. 3;
ok $d->wait_load(1, 2, 20 * $slow), 'one runs, two wait';
my $s = $h->stream($uri, Pen::Model::ask('Short:', 5));
ok $d->wait_load(1, 3, 20 * $slow), 'and this one';

my $r = $h->post($uri, Pen::Model::ask('Plain:', 5, stream => JSON::PP::false));
is $r->{status}, 429, 'not streamed: 429 after queue-timeout';
is $r->{headers}{'retry-after'}, 10, 'Retry-After';
is "$r->{json}{error}{type} $r->{json}{error}{code}",
    'rate_limit_error queue_timeout', 'type and code';
my ($row) = $d->wait_rows('status = 429');
is "$row->{finish_reason} $row->{error_type} $row->{state}",
    'timeout queued done', 'its row';
cmp_ok $row->{queue_ms}, '>=', 900, 'it waited so long';

my @l = map { $_->[1] =~ s/\r//r } $s->lines(120);
my ($first) = grep { $l[$_] =~ /^data/ } 0 .. $#l;
my @comments = @l[ 0 .. $first - 1 ];
cmp_ok scalar @comments, '>=', 3, 'comments before the first token: '
    . @comments;
my (@so_far, @eta);
for (@comments) {
    /^: waiting, position [123](?:, about (\d+) s)?, (\d+) s so far$/ or next;
    push @eta, $1 if defined $1;
    push @so_far, $2;
}
is scalar @so_far, scalar @comments, 'each is a waiting line';
is_deeply \@so_far, [ sort { $a <=> $b } @so_far ], 'its time goes on';
($row) = $d->wait_rows("stream = 1 AND completion_tokens = 5");
cmp_ok scalar @comments, '<=', $row->{ttft_ms} / 400, 'one every 0.4 s at most';
cmp_ok scalar @eta, '>=', 1, 'with an estimate';
is scalar(grep { $_ < 1 || $_ > 600 } @eta), 0, 'of some seconds';
diag "estimates: @eta; so far: @so_far";
is $l[-1], 'data: [DONE]', 'and it is served';
is $d->stop, 0, 'the daemon ends well';
done_testing;
