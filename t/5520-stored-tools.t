# A conversation with reasoning, a call and its result is the same to the model
# whether it is continued by previous_response_id, by references to items, or
# sent again: the same number of tokens.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
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

# The same of a custom tool in a namespace: its names come back joined.
$d = Pen::Daemon->scripted(args => { 'responses-keep' => 30 },
    env => { PENSTOCK_SCRIPT_MARKUP => 1, PENSTOCK_SCRIPT => "<tool_call>\n"
        . "<function=fs__edit>\n<parameter=input>\n+ \"a\"\\n\n</parameter>\n"
        . "</function>\n</tool_call>" });
@tools = (reasoning => { effort => 'none' }, tools => [ { type => 'namespace',
    name => 'fs', description => 'Files.', tools => [ { type => 'custom',
        name => 'edit' } ] } ]);
$r = create($d, input => [$user], @tools);
my ($call) = @{ $r->{output} };
is_deeply [ @$call{qw(type namespace name input status)} ],
    [ 'custom_tool_call', 'fs', 'edit', '+ "a"\\n', undef ], 'a call';
$result = { type => 'custom_tool_call_output', output => 'done',
    call_id => $call->{call_id} };
%way = (
    'previous_response_id' => { previous_response_id => $r->{id},
        input => [$result] },
    'a reference' => { input => [ $user, { type => 'item_reference',
        id => $call->{id} }, $result ] },
    'items' => { input => [ $user, $call, $result ] },
    'a function of both names' => { input => [ $user, {
        type => 'function_call', call_id => $call->{call_id},
        name => 'fs__edit', arguments => JSON::PP->new->encode({
            input => $call->{input} }) }, $result ] },
);
%said = map { $_ => create($d, @tools, %{ $way{$_} }) } sort keys %way;
is $said{$_}{http}, 200, "by $_" for sort keys %said;
%tokens = map { $said{$_}{usage}{input_tokens} => 1 } keys %said;
is scalar keys %tokens, 1, 'the model reads the same' or diag explain \%tokens;
is_deeply at($d, GET => $r->{id})->{tools}, $r->{tools}, 'the object is kept';
$items = at($d, GET => "$said{'a reference'}{id}/input_items?order=asc");
is_deeply [ map { $_->{type} } @{ $items->{data} } ], [qw(message
    custom_tool_call custom_tool_call_output)], 'what was asked';
is_deeply [ map { $_->{status} // '-' } @{ $items->{data} } ],
    [qw(- completed completed)], 'with a status where one is declared';
is $d->stop, 0, 'ends well';
done_testing;
