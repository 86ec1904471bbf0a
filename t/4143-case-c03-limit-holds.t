# Case C03: both names of the output limit hold, whole and streamed, and a
# limit that was reached is a finish "length".
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my @count = (messages => [ { role => 'user',
    content => 'Count from 1 to 500' } ]);
my %limit = (
    max_completion_tokens => { max_completion_tokens => 5 },
    max_tokens => { max_tokens => 5 },
    both => { max_tokens => 5, max_completion_tokens => 5 },
    'one is null' => { max_tokens => undef, max_completion_tokens => 5 },
);
for my $name (sort keys %limit) {
    for my $more ([], [ force('One two three four five six seven eight') ]) {
        my @body = (@count, %{ $limit{$name} }, @$more);
        my $w = whole(chat($d, @body));
        my $s = joined(chat($d, @body, stream => $yes));
        is "$w->{status} $w->{finish}", '200 length', "$name: length";
        cmp_ok $w->{usage}{completion_tokens}, '<=', 5, 'at most 5 tokens';
        is "$s->{finish} $s->{text}", "length $w->{text}", 'streamed too';
        is_deeply counts($s->{usage}), counts($w->{usage}), 'as many tokens';
    }
}
my $w = whole(text($d, prompt => 'a a a a a a a a', max_tokens => 5));
is "$w->{finish} $w->{usage}{completion_tokens}", 'length 5', 'completions';

# Refused, naming a field; nothing is generated.
my $steps = $d->health->{steps};
my $rows = () = $d->rows;
for my $bad ([ max_completion_tokens => 0 ], [ max_completion_tokens => -1 ],
    [ max_tokens => 0 ], [ max_tokens => -1 ],
    [ max_tokens => 5, max_completion_tokens => 6 ]) {
    my $r = chat($d, @count, @$bad);
    is $r->{status}, 400, "@$bad: 400";
    my %named = @$bad;
    ok exists $named{ error($r)->{param} // '' }, 'naming a field';
}
is_deeply $d->health->{steps}, $steps, 'no token was generated';
is scalar(my @all = $d->wait_rows('1', $rows + 5)), $rows + 5, 'a row each';
is $d->stop, 0, 'ends well';
done_testing;
