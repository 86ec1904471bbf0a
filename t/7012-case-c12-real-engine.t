# C12, C15 with a real model: a client that leaves while others run, in its
# prompt or in its answer, streamed or not, frees its slot; its row says
# abandoned and counts what was made; whoever waited for the slot has it at
# once, and the other streams' texts are what they are alone.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Model;
use Pen::Nginx;

plan skip_all => 'no penstockd' unless -x Pen::Daemon::build() . '/penstockd';
my $slow = $ENV{PENSTOCK_SANITIZER} ? 10 : 1;
my $d = Pen::Daemon->start(model => Pen::Model::slow(), args => {
    parallel => 2, 'side-slots' => 0, threads => 1 });
my $n = Pen::Nginx->start(socket => $d->{socket});
my $h = Pen::Http->new($n);
my $uri = '/v1/completions';
my $false = JSON::PP::false;

my $stays = Pen::Model::ask('One, two, three and so on:', 600);
my $alone = Pen::Model::text($h->stream($uri, $stays)->lines(120));
cmp_ok length $alone, '>', 100, 'the other, alone';

my $id = 0;
my @took;
for my $case ([ 'in its answer', 'Count:', 1, 1 ],
    [ 'in its answer, not streamed', 'Count again:', 0, 1 ],
    [ 'in its prompt', 'A', 1, 0 ], [ 'in its prompt, not streamed', 'B', 0, 0 ]) {
    my ($name, $prompt, $stream, $answers) = @$case;
    $prompt .= join '', map { " word$_" } 1 .. ($answers ? 1 : 1500);
    my $other = $h->stream($uri, $stays);
    ok $other->line(20 * $slow), "$name: another runs";
    my $leaves = $h->stream($uri, Pen::Model::ask($prompt, $answers ? 6000 : 100,
            $stream ? () : (stream => $false)));
    ok $d->wait_load(2, 0, 20 * $slow), 'and so does this one';
    if ($answers && $stream) {
        $leaves->line(20 * $slow) for 1 .. 5;
    } elsif ($answers) {
        sleep 0.2;
    }
    my $next = $h->stream($uri, Pen::Model::ask('Next:', 3));
    my $waits = $d->wait_load(2, 1, 20 * $slow);
    my $t = time;
    $leaves->abort;
    ok $next->line(30 * $slow), "$name: who waited has the slot";
    push @took, time - $t;
    ok $waits, 'and had waited for it' if $answers;
    like +($next->lines(20 * $slow))[-1][1], qr/DONE/, 'to its end';
    my @rows = $d->wait_rows("id > $id AND finish_reason = 'abandoned'");
    is scalar @rows, 1, "$name: its row says abandoned";
    is $rows[0]{state}, 'done', 'which is no failure';
    cmp_ok $rows[0]{completion_tokens}, '<', 6000, 'not the whole answer';
    cmp_ok $rows[0]{completion_tokens}, '>=', $answers && $stream ? 4 : 0,
        'with what was made';
    my $rest = Pen::Model::text($other->lines(120));
    is $rest, substr($alone, -length $rest), "the other's text is as alone";
    ok $d->wait_load(0, 0, 20 * $slow), 'nobody runs';
    $id = ($d->wait_rows("state <> 'open'"))[-1]{id};
}
@took = sort { $a <=> $b } @took;
cmp_ok $took[1], '<', 1 * $slow, 'within a second';
is $d->stop, 0, 'the daemon ends well';
done_testing;
