# A real model through nginx and TLS: the same text streamed and whole, over
# HTTP/1.1 and 2, alone and beside others; a client that leaves frees the
# engine; every request has its row.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $slow = $ENV{PENSTOCK_SANITIZER} ? 10 : 1;
plan skip_all => 'no penstockd' unless -x Pen::Daemon::build() . '/penstockd';
my $d = Pen::Daemon->start(args => { parallel => 4, threads => 1 });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $chat = '/v1/chat/completions';
my $body = Pen::Http::chat(60,
    messages => [ { role => 'user', content => 'What is the capital of France?' } ]);

sub join_text {
    my ($reasoning, $content) = ('', '');
    for (map { $_->[1] } @_) {
        my ($json) = /^data: (\{.*)/ or next;
        my $delta = JSON::PP->new->utf8->decode($json)->{choices}[0]{delta};
        $reasoning .= $delta->{reasoning_content} // '';
        $content .= $delta->{content} // '';
    }
    return "$reasoning|$content";
}

my $whole = $h->post($chat, { %$body, stream => JSON::PP::false });
is $whole->{status}, 200, 'a whole answer';
is length $whole->{body}, $whole->{headers}{'content-length'},
    'with its length';
my $m = $whole->{json}{choices}[0]{message};
my $text = ($m->{reasoning_content} // '') . "|$m->{content}";
like $text, qr/Paris/, 'that knows something';
for my $h2 (0, 1) {
    my @l = $h->stream($chat, $body, h2 => $h2)->lines(60);
    is join_text(@l), $text, 'streamed: the same, ' . ($h2 ? 'h2' : 'h1');
    like $l[-1][1], qr/^data: \[DONE\]/, 'to the end';
}
my @many = map { $h->stream($chat, $body, h2 => $_ % 2) } 1 .. 4;
is join_text($_->lines(60)), $text, 'beside others: the same' for @many;

my $s = $h->stream($chat, Pen::Http::chat(3000, messages =>
        [ { role => 'user', content => 'Count from 1 to 500.' } ],
    ignore_eos => JSON::PP::true));
$s->line(20) for 1 .. 3;
$s->abort;
my $t = time;
ok $d->wait_load(0, 0), 'a client that left';
cmp_ok time - $t, '<', 0.5 * $slow, 'frees the engine';

my @rows = $d->wait_rows("state <> 'open' AND endpoint = 'chat'", 8);
is scalar @rows, 8, 'a row each';
is scalar(grep { $_->{completion_tokens} == $rows[0]{completion_tokens} }
        @rows[ 0 .. 6 ]), 7, 'the same text has the same count';
is $d->stop, 0, 'the daemon ends well';
done_testing;
