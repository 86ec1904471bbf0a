# Case C05: characters whose bytes lie in several tokens arrive whole, in each
# delta by itself; the stream and the whole answer are the same bytes.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
# woman, skin tone, joiner, rocket: 15 bytes; Polish; Chinese
my $mixed = "Hi \x{1F469}\x{1F3FD}\x{200D}\x{1F680} \x{17C}\x{F3}\x{142}w "
    . "\x{6F22}\x{5B57}";
for my $text ($mixed, "\x{1F680}", "\x{1F469}\x{1F3FD}\x{200D}\x{1F680}" x 20,
    "a\x{7FF}\x{800}\x{FFFC}\x{10000}\x{10FFFD}z") {
    for my $ask ([ chat => \&chat ], [ completions => \&text ]) {
        my ($name, $do) = @$ask;
        $name .= ', ' . length($text) . ' characters';
        my $s = joined($do->($d, force($text), stream => $yes));
        my $w = whole($do->($d, force($text)));
        is $s->{bad}, '', "$name: every event is UTF-8 by itself";
        is $s->{text}, $text, 'streamed';
        is $w->{text}, $text, 'whole';
        unlike $s->{text} . $w->{text}, qr/\x{FFFD}/, 'no replacement';
        is $w->{finish}, 'stop', 'ends well';
        is_deeply counts($s->{usage}), counts($w->{usage}), 'the same usage';
        cmp_ok $w->{usage}{completion_tokens}, '>', length $text,
            'the tokens do split characters';
    }
}
is $d->stop, 0, 'ends well';
done_testing;
