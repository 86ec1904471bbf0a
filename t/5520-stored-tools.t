# A conversation with reasoning, a call and its result is the same to the model
# whether it is continued by previous_response_id, by references to items, or
# sent again: the same number of tokens.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Stored;

my $d = Pen::Daemon->scripted(args => { 'responses-keep' => 30 },
    env => { PENSTOCK_SCRIPT_MARKUP => 1, PENSTOCK_SCRIPT =>
        "I must look.\n</think>\n\nLet me see.\n<tool_call>\n<function=look>\n"
        . "<parameter=at>\nsky\n</parameter>\n</function>\n</tool_call>" });
my @tools = (reasoning => { effort => 'high' }, tools => [ { type => 'function',
    name => 'look', parameters => { type => 'object',
        properties => { at => { type => 'string' } } } } ]);

my $user = { role => 'user', content => 'Look' };
my $r = create($d, input => [$user], @tools);
is_deeply [ map { $_->{type} } @{ $r->{output} } ],
    [qw(reasoning message function_call)], 'an answer of three items';
my $result = { type => 'function_call_output', output => 'blue',
    call_id => $r->{output}[2]{call_id} };
my %way = (
    'previous_response_id' => { previous_response_id => $r->{id},
        input => [$result] },
    'references' => { input => [ $user, (map { { type => 'item_reference',
        id => $_->{id} } } @{ $r->{output} }), $result ] },
    'items' => { input => [ $user, @{ $r->{output} }, $result ] },
    'items, not stored' => { input => [ $user, @{ $r->{output} }, $result ],
        store => JSON::PP::false },
);
my %said = map { $_ => create($d, @tools, %{ $way{$_} }) } sort keys %way;
is $said{$_}{http}, 200, "by $_" for sort keys %said;
my %tokens = map { $said{$_}{usage}{input_tokens} => 1 } keys %said;
is scalar keys %tokens, 1, 'the model reads the same' or diag explain \%tokens;

# What was asked is told as the types of the package declare it.
my $items = at($d, GET => "$said{references}{id}/input_items?order=asc");
is_deeply [ map { $_->{type} } @{ $items->{data} } ], [qw(message reasoning
    message function_call function_call_output)], 'references are resolved';
is_deeply [ map { $_->{status} // '-' } @{ $items->{data} } ],
    [ '-', ('completed') x 4 ], 'with a status where one is declared';
is_deeply $items->{data}[1]{summary}, [], 'and a summary';
my $bare = create($d, @tools, input => [ { role => 'user', content => 'a' },
    { type => 'message', role => 'assistant', content => [
        { type => 'output_text', text => 'b' } ] },
    { role => 'user', content => 'c' } ]);
$items = at($d, GET => "$bare->{id}/input_items?order=asc");
is_deeply $items->{data}[1]{content}, [ { type => 'output_text', text => 'b',
    annotations => [] } ], 'parts too';
is $d->stop, 0, 'ends well';
done_testing;
