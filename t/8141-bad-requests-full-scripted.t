# A bad request costs no place in the queue: with one request running and
# nobody allowed to wait, or the one place taken, it is still a 400 and not a
# 503. Through nginx it is the same bytes: never an HTML page.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Bad;
use Pen::Case;
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my @all = Pen::Bad::all();
# every kind, but not all of each
@all = @all[ map { $_ * 23 } 0 .. $#all / 23 ];
my $d = Pen::Daemon->scripted(args => { thinking => 'off', parallel => 1,
    'max-queue' => 1 }, env => { PENSTOCK_GAP_US => 50_000,
    PENSTOCK_SCRIPT_LOOP => 1 });
my $chat = '/v1/chat/completions';
my @open = map {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => $chat, body => Pen::Http::json(
        Pen::Http::chat(4000)));
    ok $d->wait_load(1, $_), $_ ? 'the place is taken' : 'one runs';
    $f;
} 0, 1;
my $busy = chat($d);
is "$busy->{status} " . error($busy)->{type}, '503 server_busy',
    'a good request is refused';
my %status;
for my $bad (@all) {
    my $r = Pen::Fcgi->request($d->{socket}, uri => $bad->{uri},
        body => $bad->{body}, timeout => 60);
    $status{ $r->{status} }++;
    diag("$r->{status} $bad->{name}") if $r->{status} != 400;
}
is_deeply \%status, { 400 => scalar @all }, scalar(@all) . ' bad ones: 400';
my $m = $d->health;
is "$m->{running} $m->{waiting}", '1 1', 'the two are still there';

SKIP: {
    skip 'no nginx: run contrib/get-nginx' unless Pen::Nginx::program();
    my $n = Pen::Nginx->start(socket => $d->{socket});
    my $h = Pen::Http->new($n);
    @all = @all[ map { $_ * 9 } 0 .. $#all / 9 ];
    for my $bad (grep { length $_->{body} } @all) {
        my $r = $h->post($bad->{uri}, $bad->{body} =~ s/^@/ @/r);
        my $name = 'through nginx: ' . substr($bad->{name}, 0, 60)
            =~ s/[^ -~]/?/gr;
        is $r->{status}, 400, $name;
        is $r->{headers}{'content-type'}, 'application/json', 'JSON';
        is $r->{json}{error}{type}, 'invalid_request_error', 'its type';
    }
}
$_->close for @open;
ok $d->wait_load(0, 0), 'the engine is free';
is $d->stop, 0, 'ends well';
done_testing;
