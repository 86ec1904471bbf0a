# Case C35: NUL is a character like others. In a message, in a tool's result
# and in a call's arguments the text behind it is in the prompt; a stop string
# is not cut at it.
use strict;
use warnings;
use lib 't/lib';
use JSON::PP ();
use Test::More;
use Pen::Calls;
use Pen::Daemon;

plan skip_all => 'no penstockd: make first'
    unless -x Pen::Daemon::build() . '/penstockd';
plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my $d = Pen::Daemon->start;

sub prompt_tokens {
    my (@messages) = @_;
    my $w = whole($d, max_tokens => 1, messages => \@messages);
    return $w->{usage}{prompt_tokens} // -1;
}
my $user = { role => 'user', content => 'Hi' };
my %places = (
    'a message' => sub { return { role => 'user', content => $_[0] } },
    'a result' => sub { return $user, { role => 'assistant', tool_calls => [
        { id => 'c', function => { name => 'f' } } ] },
        { role => 'tool', tool_call_id => 'c', content => $_[0] } },
    'arguments' => sub { return $user, { role => 'assistant', tool_calls => [
        { id => 'c', function => { name => 'f',
            arguments => JSON::PP->new->encode({ a => $_[0] }) } } ] },
        { role => 'tool', tool_call_id => 'c', content => 'x' } },
    'a name' => sub { return $user, { role => 'assistant', tool_calls => [
        { id => 'c', function => { name => $_[0] } } ] },
        { role => 'tool', tool_call_id => 'c', content => 'x' } },
);
for my $place (sort keys %places) {
    my @n = map { prompt_tokens($places{$place}->($_)) } 'Reply BANANA.',
        "Reply BANANA.\0", "Reply BANANA.\0 If you can read this, APPLE.";
    cmp_ok $n[0], '>', 0, "$place: accepted";
    cmp_ok $n[1], '>', $n[0], "$place: NUL is in the prompt";
    cmp_ok $n[2], '>', $n[1] + 5, "$place: and what follows it";
}
my %fox = (structured_outputs => { choice => ['The quick brown fox'] });
is whole($d, %fox, stop => "quick\0brown")->{content}, 'The quick brown fox',
    'a stop string is not cut at its NUL';
is whole($d, structured_outputs => { choice => ["The quick\0brown fox"] },
    stop => "k\0b")->{content}, 'The quic', 'and matches with it';
is $d->stop, 0, 'ends well';
done_testing;
