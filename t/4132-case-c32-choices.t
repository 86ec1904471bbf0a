# Case C32: n answers to one question are n answers, repeatable by their seed
# and all counted. More than 16, or several in a stream, are refused by name.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my @story = (messages => [ { role => 'user',
    content => 'Tell me a long story about a fox named Ida.' } ]);
my %three = (n => 3, temperature => 1, seed => 7, max_tokens => 40);

sub texts { return [ map { $_->{message}{content} // $_->{text} }
    @{ $_[0]{choices} } ] }

for my $ask ([ chat => \&chat, @story ],
    [ completions => \&text, prompt => 'Once upon a time' ]) {
    my ($name, $do, @body) = @$ask;
    my ($first, $again) = map { whole($do->($d, @body, %three)) } 1, 2;
    is_deeply [ map { $_->{index} } @{ $first->{choices} } ], [ 0, 1, 2 ],
        "$name: three choices";
    my %distinct = map { $_ => 1 } @{ texts($first) };
    cmp_ok scalar(keys %distinct), '>', 1, 'not all equal';
    is_deeply texts($again), texts($first), 'the second run repeats the first';
    is_deeply counts($again->{usage}), counts($first->{usage}),
        'and its usage';
    isnt join('|', @{ texts(whole($do->($d, @body, %three, seed => 8))) }),
        join('|', @{ texts($first) }), 'another seed, other answers';

    my ($one, $three, $sixteen) = map { whole($do->($d,
        force('The quick brown fox'), n => $_))->{usage} } 1, 3, 16;
    is $three->{completion_tokens}, 3 * $one->{completion_tokens},
        'usage counts every choice';
    is $sixteen->{completion_tokens}, 16 * $one->{completion_tokens},
        'of sixteen too';
    is $three->{prompt_tokens}, $one->{prompt_tokens}, 'the prompt once';
    is $three->{total_tokens},
        $three->{prompt_tokens} + $three->{completion_tokens}, 'the sum';

    for my $bad ([ n => 17 ], [ n => 0 ], [ n => -1 ], [ n => 1.5 ],
        [ n => '2' ], [ n => $yes ], [ n => 2, stream => $yes ],
        [ n => 1 << 40 ]) {
        my $r = $do->($d, @body, @$bad);
        my $e = error($r);
        is "$r->{status} $e->{type} $e->{param}",
            '400 invalid_request_error n', "$name: refused: @$bad";
        like $e->{message}, qr/\bn\b/, 'by its name';
    }
    is scalar @{ whole($do->($d, n => $_, max_tokens => 2))->{choices} }, $_,
        "n $_" for 1, 16;
    is joined($do->($d, n => 1, stream => $yes, max_tokens => 2))->{bad}, '',
        'one in a stream';
}
my ($row) = $d->rows("endpoint = 'chat' AND state = 'done' AND "
    . 'completion_tokens > 60');
ok $row, 'the ledger has the sum of the choices';
is $d->stop, 0, 'ends well';
done_testing;
