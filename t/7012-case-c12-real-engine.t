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

# The others write on for as long as it takes.
my $stays = Pen::Model::ask('One, two, three and so on:', 4000);
my $alone = Pen::Model::text($h->stream($uri,
        { %$stays, max_tokens => 600 })->lines(120));
cmp_ok length $alone, '>', 100, 'the other, alone';

my $k = 0;
my @took;
for my $case ([ 'in its answer', 'Count:', 1, 1 ],
    [ 'in its answer, not streamed', 'Count again:', 0, 1 ],
    [ 'in its prompt', 'A', 1, 0 ], [ 'in its prompt, not streamed', 'B', 0, 0 ]) {
    my ($name, $prompt, $stream, $answers) = @$case;
    my $tokens = 6000 + $k++; # its row is known by it
    $prompt .= join '', map { " word$_" } 1 .. ($answers ? 1 : 160);
    my $other = $h->stream($uri, $stays);
    my @heard = $other->line(20 * $slow);
    ok $heard[0], "$name: another runs";
    my $leaves = $h->stream($uri, Pen::Model::ask($prompt, $tokens,
            $stream ? () : (stream => $false)));
    ok $d->wait_load(2, 0, 5 * $slow), 'and so does this one';
    if ($answers && $stream) {
        $leaves->line(20 * $slow) for 1 .. 5;
    } elsif ($answers) {
        sleep 0.2;
    }
    my $next = $h->stream($uri, Pen::Model::ask('Next:', 3));
    ok $d->wait_load(2, 1, 5 * $slow), 'somebody waits' if $answers;
    my $t = time;
    $leaves->abort;
    ok $next->line(30 * $slow), "$name: who waited has the slot";
    push @took, time - $t;
    like +($next->lines(20 * $slow))[-1][1], qr/DONE/, 'to its end';
    my ($row) = $d->wait_rows("max_tokens = $tokens AND state <> 'open'");
    is "$row->{finish_reason} $row->{state}", 'abandoned done',
        "$name: its row says abandoned";
    cmp_ok $row->{completion_tokens}, '<', $tokens, 'not the whole answer';
    cmp_ok $row->{completion_tokens}, '>=', $answers && $stream ? 4 : 0,
        'with what was made';
    push @heard, $other->line(20 * $slow) for 1 .. 200;
    my $text = substr Pen::Model::text(@heard), 0, length $alone;
    is $text, substr($alone, 0, length $text), "the other's text is as alone";
    $other->abort;
    ok $d->wait_load(0, 0, 20 * $slow), 'nobody runs';
}
@took = sort { $a <=> $b } @took;
cmp_ok $took[1], '<', 1 * $slow, 'within a second';
is $d->stop, 0, 'the daemon ends well';
done_testing;
