# C18: bodies of 2 MB and 36 MB pass the shipped file; over the cap the answer
# is JSON, from nginx or from the daemon, every time, before the upload ended.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $d = Pen::Daemon->scripted(args => { thinking => 'off' });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $chat = '/v1/chat/completions';

sub body {
    my $bytes = shift;
    # An unknown field passes; the prompt stays short.
    my $b = Pen::Http::chat(3, stream => JSON::PP::false, x => '@');
    my $json = Pen::Http::json($b);
    substr $json, index($json, '"@"') + 1, 1, 'A' x ($bytes - length($json) + 1);
    return $json;
}

for my $bytes (2_000_000, 36_000_000) {
    for my $h2 (0, 1) {
        my $r = $h->post($chat, body($bytes), h2 => $h2);
        is $r->{status}, 200, "$bytes bytes, " . ($h2 ? 'h2' : 'h1')
            or diag $r->{body};
    }
}
my $r = $h->post($chat, body(20_000_000),
    headers => [ 'Transfer-Encoding: chunked', 'Content-Length:' ]);
is $r->{status}, 200, 'a chunked upload';

open my $in, '<', 'nginx/penstock.conf' or die;
my ($cap) = join('', <$in>) =~ /client_max_body_size (\d+)m;/;
is $cap, 64, "nginx's cap is the daemon's default";
$r = $h->post($chat, body(64 * 1048576 + 1));
is $r->{status}, 413, 'over the cap: 413 of nginx';
is $r->{json}{error}{code}, 'request_too_large', 'in the shape of the API';
$r = $h->post('/v2/x', body(64 * 1048576 + 1));
is $r->{status}, 413, 'on /v2 too';
ok $r->{json}{message} && $r->{json}{rc}, 'in the shape of that API';
$r = $h->post('/v1/messages', body(64 * 1048576 + 1));
is $r->{status}, 413, 'on /v1/messages too';
is "$r->{json}{type} $r->{json}{error}{type}", 'error request_too_large',
    'in the shape of its clients';

# The daemon's own refusal, ten times, whatever nginx buffers.
my $small = Pen::Daemon->scripted(args => { 'body-max' => 100_000 });
for my $buffering ('on', 'off') {
    my $m = Pen::Nginx->start(socket => $small->{socket}, edit => sub {
        s/fastcgi_request_buffering on;/fastcgi_request_buffering $buffering;/;
    });
    my $hm = Pen::Http->new($m);
    for my $h2 (0, 1) {
        my %got;
        for (1 .. 10) {
            my $q = $hm->post($chat, body(5_000_000), h2 => $h2);
            $got{ ($q->{status} // 'none') . ' '
                    . ($q->{json}{error}{code} // 'no JSON') }++;
        }
        is_deeply \%got, { '413 request_too_large' => 10 },
            "10 of 10 clean, request buffering $buffering, "
            . ($h2 ? 'h2' : 'h1') or diag explain \%got;
    }
    $r = $hm->post($chat, body(90_000));
    is $r->{status}, 200, 'under it all is well';
}
# A sender that ignores the refusal: it sees the end at once, may go on
# sending for two seconds, and is then cut off.
my $f = Pen::Fcgi->connect($small->{socket});
$f->begin;
$f->params(Pen::Fcgi::nginx_params(uri => $chat, body => '',
    params => { CONTENT_LENGTH => 1_000_000 }));
my $t = time;
is $f->response(10)->{status}, 413, 'refused before its body';
is $f->next_record(10), 0, 'then the end';
cmp_ok time - $t, '<', 1, 'at once';
ok $f->record(5, 'x' x 1000), 'what it sends is swallowed';
sleep 3;
ok !$f->record(5, 'x' x 1000), 'for a while';
is $small->health->{status}, 'ok', 'alive';
is $_->stop, 0, 'ends well' for $d, $small;
done_testing;
