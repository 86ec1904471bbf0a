# Case C15: a stream that was left after ten chunks has one row: abandoned,
# with the prompt's real tokens and those that were generated until the stop.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;

need_demo();
my $limit = 4000;
my $d = Pen::Daemon->start(args => { thinking => 'off', parallel => 1 });
# The model's end is forbidden: it writes until it is stopped.
my %long = (max_tokens => $limit, temperature => 0, stream => $yes,
    logit_bias => { 3065 => -100 });
for my $ask ([ '/v1/completions', prompt => 'a a a a a a a a' ],
    [ '/v1/chat/completions',
        messages => [ { role => 'user', content => 'Hi' } ] ]) {
    my ($uri, @prompt) = @$ask;
    my ($endpoint) = $uri =~ m{/v1/(\w+)};
    my $prompt = whole(Pen::Case::ask($d, $uri, @prompt, max_tokens => 1))
        ->{usage}{prompt_tokens};
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => $uri,
        body => JSON::PP->new->encode({ @prompt, %long }));
    my $r = $f->response(60, qr/(?:^data: [^\n]*\n\n){10}/m);
    my @chunks = $r->{out} =~ /^data: (\{.*\})\n\n/mg;
    cmp_ok scalar @chunks, '>=', 10, "$endpoint: ten chunks were read";
    $f->close;
    my ($id) = $r->{headers}{'x-request-id'};
    my @rows = $d->wait_rows("request_id = '$id' AND state <> 'open'", 1, 60);
    is scalar @rows, 1, 'one row';
    my $row = $rows[0];
    is "$row->{state} $row->{finish_reason}", 'done abandoned',
        'abandoned, no failure';
    is $row->{endpoint}, $endpoint, 'its route';
    is $row->{prompt_tokens}, $prompt, 'real prompt_tokens';
    # every chunk has at least one token, but for the role's
    cmp_ok $row->{completion_tokens}, '>=', @chunks - 1,
        'completion_tokens: what was delivered, or more';
    cmp_ok $row->{completion_tokens}, '<', $limit, 'not max_tokens';
    ok $d->wait_load(0, 0, 60), 'the engine is free';
}
is scalar(my @open = $d->rows("state = 'open'")), 0, 'no row is open';
my $out = $d->health->{steps}{tokens_out};
my $sum = 0;
$sum += $_->{completion_tokens} for $d->rows;
is $sum, $out, 'the rows together have the tokens that the engine made';
is $d->stop, 0, 'ends well';
done_testing;
