# Case C04, request checking: an assistant's message without content is
# history like any other; its tool calls are refused by name until formats
# can write them.
use strict;
use warnings;
use lib "t/lib";
use Test::More;
use Pen::Body;

plan skip_all => "t/unit/api_body_error is not built" unless tool();

sub history {
    my ($assistant) = @_;
    return '{"messages":[{"role":"user","content":"a"},' . $assistant
        . ',{"role":"user","content":"b"}]}';
}
for my $content ('"content":null,', '"content":"",', '') {
    is((check(history(qq({$content"role":"assistant"}))))[0], 200,
        "{$content} is accepted");
    named(history(qq({$content"role":"assistant","tool_calls":[{"id":"call_1",)
        . '"type":"function","function":{"name":"f","arguments":"{}"}}]}'),
        'messages[1].tool_calls', "{$content} with tool calls");
}
named('{"messages":[{"role":"user","content":"a"},'
    . '{"role":"tool","tool_call_id":"call_1","content":"42"}]}',
    'messages[1].role', 'a tool result');
done_testing();
