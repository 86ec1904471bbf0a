# Case C04: an assistant's message without content is history like any other,
# also with its tool calls, and content missing, null or empty is the same.
use strict;
use warnings;
use lib "t/lib";
use Test::More;
use Pen::Body;

plan skip_all => "t/unit/api_body_error is not built" unless tool();

my $call = '"tool_calls":[{"id":"call_1","type":"function",'
    . '"function":{"name":"f","arguments":"{}"}}]';

sub history {
    my ($assistant) = @_;
    return '{"messages":[{"role":"user","content":"a"},' . $assistant
        . ',{"role":"user","content":"b"}]}';
}
for my $content ('"content":null,', '"content":"",', '') {
    is((check(history(qq({$content"role":"assistant"}))))[0], 200,
        "{$content} is accepted");
    is((check(history(qq({$content"role":"assistant",$call}))))[0], 200,
        "{$content} with tool calls");
}
is((check('{"messages":[{"role":"user","content":"a"},'
    . "{\"role\":\"assistant\",$call},"
    . '{"role":"tool","tool_call_id":"call_1","content":"42"}]}'))[0], 200,
    'with its result');
done_testing();
