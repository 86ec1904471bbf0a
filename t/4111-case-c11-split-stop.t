# Case C11: a stop string that lies in several tokens: nothing of it leaks,
# nothing before it is lost, and what was held for one that never came is
# released. Chat and completions, streamed and whole.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my $fox = 'The quick brown fox jumps';
my $han = "\x{6F22}\x{5B57}\x{6F22}";
for my $case (
    [ $fox, ['own fox'], 'The quick br' ],
    [ $fox, ['own cat'], $fox ],
    [ $fox, [ 'own cat', 'own fox' ], 'The quick br' ],
    [ $fox, [ 'fox jumps', 'brown', 'own fox j' ], 'The quick ' ],
    [ $fox, ['jumps'], 'The quick brown fox ' ],
    [ $fox, ['jumps!'], $fox ],
    [ $fox, ['T'], '' ],
    [ $fox, 'k b', 'The quic' ],
    [ 'aaaaaaaab', ['aab'], 'aaaaaa' ],
    [ $han, ["\x{5B57}\x{6F22}"], "\x{6F22}" ], # within characters' tokens
    [ $han, ["\x{5B57}\x{5B57}"], $han ],
    [ "one\ntwo\n\nthree", ["\n\n"], "one\ntwo" ]) {
    my ($forced, $stop, $want) = @$case;
    for my $ask ([ chat => \&chat ], [ completions => \&text ]) {
        my ($name, $do) = @$ask;
        my %body = (force($forced), stop => $stop);
        my $s = joined($do->($d, %body, stream => $yes));
        my $w = whole($do->($d, %body));
        my $shown = ref $stop ? join ' or ', @$stop : $stop;
        $shown =~ s/([^ -~])/sprintf '\\x{%x}', ord $1/ge;
        is $s->{bad}, '', "$name, stop $shown";
        is $s->{text}, $want, 'streamed';
        is $w->{text}, $want, 'whole';
        is "$s->{finish} $w->{finish}", 'stop stop', 'finish_reason';
    }
}
is $d->stop, 0, 'ends well';
done_testing;
