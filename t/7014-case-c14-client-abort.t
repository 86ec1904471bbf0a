# Case C14: nginx sends no abort record; when its client leaves it closes the
# connection, and that frees the engine: in mid-stream, and before the first
# byte, which nginx logs as 499. The demo model in a real nginx, with the
# default fastcgi_ignore_client_abort.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Time::HiRes qw(sleep time);
use Pen::Case;
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

need_demo();
my $limit = 4000; # far more than is written before anybody leaves
my $d = Pen::Daemon->start(args => { thinking => 'off', parallel => 1 });
my $n = Pen::Nginx->start(socket => $d->{socket},
    edit => sub { s/^\s*fastcgi_ignore_client_abort off;\n//m or die });
my $h = Pen::Http->new($n);
my $uri = '/v1/chat/completions';
# The model's end is forbidden: it writes until it is stopped.
my @hi = (messages => [ { role => 'user', content => 'Hi' } ]);
my %long = (@hi, max_tokens => $limit,
    temperature => 0, logit_bias => { 3065 => -100 });

sub until_true {
    my ($what) = @_;
    my $end = time + 60;
    sleep 0.01 until $what->() || time > $end;
    return $what->();
}
my $seen = 0; # rows so far

for my $c ([ 'mid-stream', 1, stream => $yes ],
    [ 'before the first byte', 0, stream => $no ],
    [ 'mid-stream, HTTP/2', 1, stream => $yes ],
    [ 'before the first byte, HTTP/2', 0, stream => $no ]) {
    my ($name, $reads, %body) = @$c;
    my $logged = () = $n->access_log =~ /^.*$uri.*$/mg;
    my $s = $h->stream($uri, { %long, %body },
        h2 => $name =~ /2/ ? 1 : 0);
    if ($reads) {
        $s->line(60) // last for 1 .. 5;
    }
    ok until_true(sub { my $m = $d->health;
        $m->{running} == 1 && $m->{steps}{tokens_out} }), "$name: it runs";
    $s->abort;
    ok until_true(sub { my $m = $d->health;
        !$m->{running} && !$m->{waiting} && !$m->{open} }),
        'the engine is free';
    my @rows = $d->wait_rows("id > $seen AND state <> 'open'", 1, 60);
    is scalar @rows, 1, 'one row';
    $seen = $rows[-1]{id};
    is $rows[0]{finish_reason}, 'abandoned', 'abandoned';
    cmp_ok $rows[0]{completion_tokens}, '<', $limit, 'stopped early';
    ok until_true(sub { (() = $n->access_log =~ /^.*$uri.*$/mg) > $logged }),
        'nginx logs it';
    my ($status) = (split /\n/, $n->access_log)[-1] =~ /HTTP\/\S+" (\d+) /;
    is $status, $reads ? 200 : 499, "as $status";
}
# C12: with one slot, a short request that comes with the other's leaving
# starts at once: long before that one could have ended.
for my $c ([ 'streamed', stream => $yes ], [ 'not streamed', stream => $no ]) {
    my ($name, %body) = @$c;
    my $s = $h->stream($uri, { %long, %body });
    ok $d->wait_load(1, 0, 60), "$name: it runs";
    $s->abort;
    my $r = $h->post($uri, { @hi, max_tokens => 2 });
    is $r->{status}, 200, 'a short request behind it is served';
    cmp_ok $r->{json}{timings}{queue_ms}, '<',
        1000 * ($ENV{PENSTOCK_SANITIZER} ? 10 : 1), 'and starts at once';
    my ($row) = $d->wait_rows("id > $seen AND finish_reason = 'abandoned'");
    cmp_ok $row->{completion_tokens}, '<', $limit, 'not behind its last token';
    $seen = $row->{id};
}
is $d->stop, 0, 'ends well';
done_testing;
