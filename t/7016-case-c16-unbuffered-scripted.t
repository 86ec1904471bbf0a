# C16: tokens arrive one by one, even through a location that buffers, with
# and without gzip, over HTTP/1.1 and HTTP/2. Scripted engine: a token every
# 100 ms; then a 5 ms gap, where an event may be 20 ms late.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $slow = $ENV{PENSTOCK_SANITIZER} ? 5 : 1; # sanitizers stretch time
my $d = Pen::Daemon->scripted(args => { thinking => 'off' },
    env => { PENSTOCK_GAP_US => 100_000, PENSTOCK_SCRIPT_LOOP => 1 });
my $fast = Pen::Daemon->scripted(args => { thinking => 'off' },
    env => { PENSTOCK_GAP_US => 5_000, PENSTOCK_SCRIPT_LOOP => 1 });
# A site that knows nothing of streams: only the stock parameters.
my $plain = sub {
    my ($path, $socket, $more) = @_;
    return <<"END";
location /$path/ {
    rewrite ^/$path(/.*)\$ \$1 break;
    fastcgi_pass unix:$socket;
    fastcgi_param REQUEST_METHOD \$request_method;
    fastcgi_param REQUEST_URI \$uri;
    fastcgi_param CONTENT_TYPE \$content_type;
    fastcgi_param CONTENT_LENGTH \$content_length;
    fastcgi_param REMOTE_ADDR \$remote_addr;
    fastcgi_param PENSTOCK_EDGE nginx;
    $more
}
END
};
my $n = Pen::Nginx->start(socket => $d->{socket}, server =>
    $plain->('plain', $d->{socket}, '')
    . $plain->('zip', $d->{socket},
        'gzip on; gzip_types text/event-stream; gzip_min_length 0;')
    . $plain->('fast', $fast->{socket}, ''));
my $h = Pen::Http->new($n);
my $chat = '/v1/chat/completions';

sub gaps {
    my @at = map { $_->[0] } grep { $_->[1] =~ /"content":"./ } @_;
    return map { $at[$_] - $at[ $_ - 1 ] } 1 .. $#at;
}

sub check {
    my ($name, $path, %o) = @_;
    my ($end, @lines, @gaps, @odd);
    # A busy machine may hold up one stream; nginx would hold up all three.
    for (1 .. 3) {
        my $s = $h->stream($path, Pen::Http::chat(8), %o);
        @lines = $s->lines(20 * $slow);
        $end = $s->finish;
        @gaps = gaps(@lines);
        # Were they held back and sent together, gaps would be near zero.
        @odd = grep { $_ < 0.02 || $_ > 0.1 + 0.15 * $slow } @gaps;
        last if @odd <= 1;
    }
    is $end, 0, "$name: curl ends well";
    is $lines[-1][1] =~ s/\r//r, 'data: [DONE]', "$name: to the end";
    cmp_ok scalar @gaps, '>=', 5, "$name: one event a token";
    ok @odd <= 1, "$name: gaps near 100 ms"
        or diag "gaps: @gaps";
}

for my $h2 (0, 1) {
    my $v = $h2 ? 'h2' : 'h1';
    check("$v, our snippet", $chat, h2 => $h2);
    check("$v, plain location", "/plain$chat", h2 => $h2);
    check("$v, gzip", "/zip$chat", h2 => $h2,
        curl => ['--compressed', '-H', 'Accept-Encoding: gzip']);
}

my $r = $h->post($chat, Pen::Http::chat(1));
like $r->{headers}{'content-type'}, qr{^text/event-stream}, 'content type';
is $r->{headers}{'cache-control'}, 'no-cache', 'cache control';

# 200 tokens, one each 5 ms: each at most 20 ms behind its place.
for my $h2 (0, 1) {
    my @at = map { $_->[0] } grep { $_->[1] =~ /"content":"./ }
        $h->stream("/fast$chat", Pen::Http::chat(200), h2 => $h2)->lines(30);
    cmp_ok scalar @at, '>=', 150, 'most tokens are events of their own';
    my @late = sort { $a <=> $b } map { $at[$_] - $at[ $_ - 1 ] } 1 .. $#at;
    my $p95 = $late[ int(0.95 * $#late) ];
    cmp_ok $late[ $#late / 2 ], '<', 0.015 * $slow, 'median gap';
    cmp_ok $p95, '<', 0.025 * $slow, '19 of 20 gaps under 5 + 20 ms';
}
is $d->stop, 0, 'the daemon ends well';
done_testing;
