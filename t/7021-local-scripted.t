# Without any key only local clients are served, and only nginx can say who
# is local: what clients send cannot.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $d = Pen::Daemon->scripted;
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
is $h->get('/v1/models')->{status}, 200, 'a loopback client is local';
for my $header ('X-Forwarded-For: 127.0.0.1', 'X-Forwarded-Proto: https',
    'X-Real-IP: 127.0.0.1', 'Forwarded: for=127.0.0.1', 'Via: 1.1 x') {
    my $r = $h->get('/v1/models', headers => [$header]);
    is $r->{status}, 401, "with $header: somebody's proxy, not local";
    is $r->{json}{error}{type}, 'authentication_error', 'and it says so';
}
is $h->get('/health', headers => ['X-Real-IP: 1.2.3.4'])->{status}, 200,
    '/health never needs a key';

my $bare = Pen::Nginx->start(socket => $d->{socket},
    edit => sub { s/fastcgi_param PENSTOCK_EDGE.*// });
my $hb = Pen::Http->new($bare);
is $hb->get('/v1/models', headers => [ 'Penstock-Edge: nginx',
    'PENSTOCK_EDGE: nginx', 'Remote-Addr: 127.0.0.1' ])->{status}, 401,
    'headers of a client do not make it local';

# Anybody can connect to a public TCP listener, and then nobody is local.
my $port = Pen::Nginx::free_port();
my $p = Pen::Daemon->scripted(args => { listen => "0.0.0.0:$port" },
    no_wait => 1);
my $f;
for (1 .. 400) {
    last if $f = Pen::Fcgi->connect("127.0.0.1:$port");
    select undef, undef, undef, 0.05;
}
$f->send_request(uri => '/v1/models');
is $f->response(10)->{status}, 401, 'PENSTOCK_EDGE proves nothing there';
like $p->log, qr/warn open_door/, 'and the start warns';
is $_->stop, 0, 'ends well' for $d, $p;
done_testing;
