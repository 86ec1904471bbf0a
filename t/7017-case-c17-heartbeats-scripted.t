# C17, C07: a long prefill or a queue does not end as a 504, since comment
# lines go out; and the stream has only data and comment lines.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

my $d = Pen::Daemon->scripted(
    args => { thinking => 'off', parallel => 1, 'wait-line-ms' => 200,
        'prefill-line-ms' => 200 },
    env => { PENSTOCK_PREFILL_US => 2_500_000 });
# nginx would give up after a second of silence.
my $n = Pen::Nginx->start(socket => $d->{socket}, edit => sub {
    s/fastcgi_read_timeout \w+;/fastcgi_read_timeout 2s;/;
});
my $h = Pen::Http->new($n);
my $chat = '/v1/chat/completions';

my $first = $h->stream($chat, Pen::Http::chat(5));
ok $d->wait_load(1, 0), 'one runs';
my $second = $h->stream($chat, Pen::Http::chat(5), h2 => 1);
my @a = map { $_->[1] =~ s/\r//r } $first->lines(20);
my @b = map { $_->[1] =~ s/\r//r } $second->lines(20);

ok((grep { /^: prefill/ } @a), 'a prefill line');
ok((grep { /^: waiting/ } @b), 'a waiting line in the other stream');
for my $s ([ prefill => \@a ], [ queued => \@b ]) {
    my ($name, $l) = @$s;
    is $l->[-1], 'data: [DONE]', "$name: complete";
    is_deeply [ grep { !/^(?:data: |:)/ } @$l ], [],
        "$name: data and comments, nothing else";
    like $l->[0], qr/^:/, "$name: a comment came first";
}

# 2.5 s: the first line when the setting says, then one a second.
cmp_ok scalar(grep { /^: prefill/ } @a), '<=', 4, 'a prefill line a second';

# Not streamed: no comment can go out. The shipped file waits longer than the
# daemon's own limit.
open my $in, '<', 'nginx/penstock.conf' or die;
my ($read) = join('', <$in>) =~ /fastcgi_read_timeout (\d+)s;/;
my ($limit) = `$d->{bin} --help` =~ /--request-timeout .*\[(\d+)\]/;
cmp_ok $read, '>', $limit, 'nginx waits longer than the daemon lets live';
my $r = $h->post($chat, Pen::Http::chat(5, stream => JSON::PP::false));
is $r->{status}, 503, 'silence over the time-out is JSON, not HTML';
is $r->{json}{error}{code}, 'server_unavailable', 'with a code';
is $d->stop, 0, 'the daemon ends well';
done_testing;
