# Case C30: thinking that the token limit cuts off is reasoning, whole and
# streamed, and never an answer; usage says where the budget went. Without
# thinking there is an answer and no reasoning. On the demo model, and on a
# script that thinks for ever.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my @title = (messages => [ { role => 'user',
    content => 'Give this chat a title: What is the capital of France?' } ]);

# Both ways; what they share is checked here.
sub both {
    my ($d, $name, %body) = @_;
    my $w = whole(chat($d, @title, %body));
    my $s = joined(chat($d, @title, %body, stream => $yes));
    is $s->{bad}, '', "$name: a stream";
    is $s->{reasoning}, $w->{reasoning}, 'the same reasoning';
    is $s->{text}, $w->{text} // '', 'the same content';
    is $s->{finish}, $w->{finish}, 'the same finish_reason';
    is_deeply counts($s->{usage}), counts($w->{usage}), 'the same usage';
    return $w;
}

sub thought {
    my ($d, $name, $n, %body) = @_;
    my $w = both($d, $name, max_tokens => $n, %body);
    is $w->{text} // '', '', 'content is empty';
    like $w->{reasoning}, qr/\w/, 'a thought';
    unlike $w->{reasoning}, qr/<\/?think>/, 'without its markers';
    is $w->{finish}, 'length', 'length';
    is $w->{usage}{completion_tokens}, $n, 'the budget';
    is $w->{usage}{completion_tokens_details}{reasoning_tokens}, $n,
        'all of it went into the thought';
}

sub answer {
    my ($d, $name, %body) = @_;
    my $w = both($d, $name, max_tokens => 30, %body);
    like $w->{text}, qr/\w/, 'an answer in content';
    is $w->{reasoning}, '', 'no reasoning';
    ok !exists $w->{choices}[0]{message}{reasoning_content}, 'nor its key';
    is $w->{usage}{completion_tokens_details}{reasoning_tokens}, 0,
        'and none counted';
}
my @off = ([ reasoning_effort => 'none' ], [ thinking => $no ],
    [ chat_template_kwargs => { enable_thinking => $no } ]);

my $d = Pen::Daemon->start(args => { thinking => 'on' });
thought($d, "demo, $_ tokens", $_) for 1, 5;
answer($d, "demo, $_->[0]", @$_) for @off;
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->start(args => { thinking => 'off' });
thought($d, 'demo, asked to think', 5, thinking => $yes);
answer($d, 'demo, not asked');
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(args => { thinking => 'on' }, env => {
    PENSTOCK_SCRIPT_LOOP => 1, PENSTOCK_SCRIPT => 'The user wants a title, so '
        . "let me see: Paris, France, capitals, geography, or \x{e9}t\x{e9}. " });
thought($d, "script, $_ tokens", $_) for 30, 29, 100;
answer($d, 'script, none', @{ $off[0] });
unlike $d->log, qr/ think=/, 'nobody but the limit ended a thought';
is $d->stop, 0, 'ends well';

$d = Pen::Daemon->scripted(args => { thinking => 'on' },
    env => { PENSTOCK_SCRIPT_LOOP => 1, PENSTOCK_SCRIPT => 'la' });
my $w = both($d, 'circles', max_tokens => 400);
like $w->{reasoning}, qr/la\s.*\.\z/s, 'a thought that is closed';
is((() = $d->log =~ / think=stall /g), 2, 'the log says why');
is $d->stop, 0, 'ends well';
done_testing;
