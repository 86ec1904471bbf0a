# One streamed chat request seen from outside: the daemon with the demo model,
# FastCGI by hand. The same question whole gives the same text; the ledger has
# the numbers that the client saw.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;
use Pen::Daemon;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my $question = 'What is the capital of France?';
my @ask = (messages => [ { role => 'user', content => $question } ]);
my $r = chat($d, @ask, stream => $yes,
    stream_options => { include_usage => $yes });
my $s = joined($r);
is $r->{status}, 200, 'a stream';
like $r->{headers}{'content-type'}, qr{^text/event-stream}, 'its type';
is $r->{headers}{'x-accel-buffering'}, 'no', 'not to be buffered';
is $s->{chunks}[0]{choices}[0]{delta}{role}, 'assistant', 'role first';
is $s->{bad}, '', 'its framing';
is_deeply $s->{finishes}, ['stop'], 'one finish reason';
is $s->{done}, 1, '[DONE] once';
like $s->{text}, qr/Paris/, 'the model knows it';
my ($row) = $d->rows("request_id = '$s->{chunks}[0]{id}'");
is $row->{state}, 'done', 'its row is there when [DONE] is';
is $row->{$_}, $s->{usage}{$_}, "$_ as the client saw"
    for qw(prompt_tokens completion_tokens);
my $w = whole(chat($d, @ask));
is $w->{text}, $s->{text}, 'the same text whole';
is $w->{usage}{prompt_tokens_details}{cached_tokens},
    $w->{usage}{prompt_tokens} - 1, 'the second one finds the prompt';
is_deeply counts($w->{usage}), counts($s->{usage}),
    'the same usage but for that';
is $w->{system_fingerprint}, $s->{chunks}[0]{system_fingerprint},
    'the same fingerprint';
my $t = $w->{timings};
cmp_ok abs($t->{queue_ms} + $t->{prompt_ms} - $t->{ttft_ms}), '<', 0.001,
    'ttft = queue + prompt';

is $d->stop, 0, 'the daemon ends well';
done_testing;
