# C20: more than 8 KB of parameters arrive whole, or the request is refused;
# a value is never cut.
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
my $build = Pen::Daemon::build();
my $made = `$build/penstock key add c20 --db $d->{db} --json`;
my $key = ($made =~ /"(pk-[\w-]+)"/)[0];
plan skip_all => 'penstock key add is not there' unless $key;
sleep 2; # the daemon looks once a second

my @auth = ("Authorization: Bearer $key");
is $h->get('/v1/models')->{status}, 401, 'without a key';
is $h->get('/v1/models', headers => [@auth])->{status}, 200, 'with one';
my @big = ('X-Big: ' . 'x' x 20_000, @auth);
is $h->get('/v1/models', headers => \@big)->{status}, 200,
    '20,000 bytes before the key';
is $h->get('/v1/models', headers => [ reverse @big ])->{status}, 200,
    'and after it';
is $h->get('/v1/models', headers => [ "Authorization: Bearer $key" . 'x' x 9000 ])
    ->{status}, 401, 'a longer key is another key';

my %p = (HTTP_AUTHORIZATION => "Bearer $key", REMOTE_ADDR => '192.0.2.1');
for my $piece (1, 7, 8191, 8192, 8193) {
    my $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/models',
        params => { %p, HTTP_X_BIG => 'y' x ($piece < 8 ? 300 : 20_000) },
        piece => $piece);
    is $r->{status}, 200, "pairs split over records of $piece bytes";
}
my $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/models',
    params => { %p, HTTP_X_BIG => 'y' x 300_000 });
is $r->{status}, 400, 'over our cap: refused';
ok $r->{ended}, 'cleanly';
$r = Pen::Fcgi->request($d->{socket}, uri => '/v1/models',
    params => { %p, map { ("HTTP_A$_" => 'b') } 1 .. 600 });
is $r->{status}, 400, 'too many: refused';
is $d->health->{status}, 'ok', 'alive';
is $d->stop, 0, 'the daemon ends well';
done_testing;
