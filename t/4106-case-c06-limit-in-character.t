# Case C06: the token limit may fall into a character: its cut bytes are not
# sent, nothing breaks, and every generated token counts.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
for my $char ("\x{6F22}", "\x{1F680}") {
    my $text = $char x 64;
    my ($one, $two) = map { whole(chat($d, force($char x $_)))
        ->{usage}{completion_tokens} } 1, 2;
    my $each = $two - $one;
    cmp_ok $each, '>', 1, "a character is $each tokens";
    for my $n (1 .. 12) {
        for my $ask ([ chat => \&chat ], [ completions => \&text ]) {
            my ($name, $do) = @$ask;
            $name .= ", $n tokens";
            my %o = (force($text), max_tokens => $n);
            my $r = $do->($d, %o);
            my $w = whole($r);
            my $s = joined($do->($d, %o, stream => $yes));
            is "$w->{status} $w->{finish}", '200 length', "$name: whole";
            is $w->{text}, $char x int($n / $each), 'whole characters';
            is $w->{usage}{completion_tokens}, $n, 'every token counts';
            is "$s->{status} $s->{finish}$s->{bad}", '200 length', 'streamed';
            is $s->{text}, $w->{text}, 'the same text';
            is $s->{usage}{completion_tokens}, $n, 'and count';
        }
    }
}
is whole(chat($d, max_tokens => 1))->{status}, 200, 'alive';
is $d->stop, 0, 'ends well';
done_testing;
