# Case C04: an assistant's message without content is history like any other,
# also with its tool calls, and content missing, null or empty is the same.
use strict;
use warnings;
use lib "t/lib";
use Test::More;
use Pen::Body;
use Pen::Calls;
use Pen::Daemon;

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

# The same prompt, counted by a daemon that renders it.
SKIP: {
    skip 'no demo model', 4 unless -r $Pen::Daemon::DEMO;
    my $d = Pen::Daemon->start;
    my %call = (role => 'assistant', tool_calls => [ { id => 'call_1',
        type => 'function', function => { name => 'f', arguments => '{}' } } ]);
    my @prompts = map { whole($d, max_tokens => 1, messages => [
        { role => 'user', content => 'a' }, $_,
        { role => 'tool', tool_call_id => 'call_1', content => '42' } ])
        ->{usage}{prompt_tokens} } { %call, content => undef }, { %call },
        { %call, content => '' };
    cmp_ok $prompts[0], '>', 20, 'null: the call is in the prompt';
    is $prompts[1], $prompts[0], 'missing is the same';
    is $prompts[2], $prompts[0], 'empty is the same';
    is $d->stop, 0, 'ends well';
}
done_testing();
