# Case C23: two calls in a stream, joined per index. The tokens come from a
# script, in the form of the demo model.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP;
use Pen::Calls;
use Pen::Daemon;

plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my $script = join "\n", map { "<tool_call>\n<function=$_->[0]>\n" . join('',
    map { "<parameter=$_->[0]>\n$_->[1]\n</parameter>\n" } @$_[ 1 .. $#$_ ])
    . "</function>\n</tool_call>" } [ 'add', [ a => 2 ], [ b => 2 ] ],
    [ 'weather', [ city => 'Tokyo' ] ];
my $d = Pen::Daemon->scripted(env => { PENSTOCK_SCRIPT => "$script<|im_end|>",
    PENSTOCK_SCRIPT_MARKUP => 1, PENSTOCK_GAP_US => 1000 });
my %tools = (tools => [ function('add', a => 'integer', b => 'integer'),
    function('weather', city => 'string') ]);

my $s = streamed($d, %tools);
is $s->{bad}, '', 'id, type and name once, with "" as arguments';
is_deeply [ map { $_->{name} } @{ $s->{calls} } ], [qw(add weather)],
    'index 0 and 1';
is_deeply [ map { decode_json($_->{arguments}) } @{ $s->{calls} } ],
    [ { a => 2, b => 2 }, { city => 'Tokyo' } ], 'one JSON object each';
cmp_ok $s->{deltas}, '>', 4, 'they came in pieces';
is $s->{finish}, 'tool_calls', 'finish_reason';
my @ids = map { $_->{id} } @{ $s->{calls} };
isnt $ids[0], $ids[1], 'the ids differ';

my $w = whole($d, %tools);
is_deeply [ map { @$_{qw(name arguments)} } @{ $w->{calls} } ],
    [ map { @$_{qw(name arguments)} } @{ $s->{calls} } ], 'the same whole';
isnt $w->{calls}[0]{id}, $ids[0], 'every answer has new ids';

# The ids are accepted as tool_call_id later.
my @history = ({ role => 'user', content => 'Hello' },
    { role => 'assistant', content => undef, tool_calls => [ map { {
        id => $_->{id}, type => 'function', function => { name => $_->{name},
            arguments => $_->{arguments} } } } @{ $s->{calls} } ] },
    map { { role => 'tool', tool_call_id => $_, content => 'ok' } }
        reverse @ids);
is whole($d, %tools, messages => \@history)->{finish}, 'tool_calls',
    'both results are taken, in any order';

$s = streamed($d, %tools, parallel_tool_calls => JSON::PP::false);
is_deeply [ map { $_->{name} } @{ $s->{calls} } ], ['add'],
    'check 25: parallel_tool_calls false';
$s = streamed($d);
is_deeply [ $s->{calls}, $s->{finish} ], [ [], 'stop' ],
    'check 98: no tools offered';
is $d->stop, 0, 'ends well';
like $d->log, qr/tools=parsed:2,dropped:1 /, 'check 25: counted';
done_testing;
