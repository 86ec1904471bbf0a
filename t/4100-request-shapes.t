# A request of the wrong shape is a 400 that names the exact field, before a
# token is made or a place taken; the next request finds all as it was.
# Shapes: spec tandem.md 4 and its checks 30-37, 91-95, waste.md checks 56-59.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my $hi = '{"role":"user","content":"Hi"}';
my $msgs = qq("messages":[$hi]);

sub post {
    my ($uri, $body) = @_;
    return Pen::Fcgi->request($d->{socket}, uri => "/v1/$uri", body => $body,
        timeout => 20);
}

# body, param (undef: the body itself)
my %chat = (
    '' => undef,
    '[]' => undef,
    'null' => undef,
    '"x"' => undef,
    '7' => undef,
    '{' => undef,
    '{:1}' => undef,
    '{}' => 'messages',
    '{"messages":[]}' => 'messages',
    '{"messages":{}}' => 'messages',
    '{"messages":[{"role":"system","content":"x"}]}' => 'messages',
    '{"messages":[{"role":"tool","content":"4","tool_call_id":"c"}]}' =>
        'messages',
    '{"messages":[{"role":"robot","content":"x"}]}' => 'messages[0].role',
    '{"messages":[{"role":"user","content":1}]}' => 'messages[0].content',
    '{"messages":[{"role":"user","content":[{"type":"text"}]}]}' =>
        'messages[0].content[0].text',
    qq({"messages":[$hi,$hi,{"role":"assistant","tool_calls":[{"function":)
        . qq({"name":""}}]}]}) => 'messages[2].tool_calls[0].function.name',
    qq({"messages":[{"role":"user","content":"\\ud800"}]}) => undef,
);
my %field = (
    # checks 30 and 31
    audio => [ '{"voice":"x"}' ], functions => [ '[{"name":"f"}]' ],
    function_call => [ '{"name":"f"}' ], web_search_options => [ '{}' ],
    verbosity => [ '"low"' ], modalities => [ '["text","audio"]' ],
    # 32 to 36
    'response_format.type' => [ '"yaml"' ],
    n => [ 0, 17, 'true', '1.5' ],
    logprobs => [ '"yes"' ], top_logprobs => [ 3, 21 ],
    tool_choice => [ '"required"', '"sometimes"' ],
    logit_bias => [ '{"1":101}', '{"x":1}', '[1]' ],
    # 91 and 93
    max_tokens => [ 0, -1 ], max_completion_tokens => [ 0 ],
    reasoning_effort => [ '"huge"', -1 ],
    reasoning_format => [ '"xml"' ],
    map({ $_ => [ -1, 'true', '"5"' ] } qw(max_reasoning_tokens
        thinking_budget thinking_token_budget thinking.budget_tokens
        reasoning.max_tokens chat_template_kwargs.thinking_budget
        reasoning_budget reasoning_budget_tokens
        generation_config.thinking_config.thinking_budget
        extra_body.google.thinking_config.thinking_budget)),
);
for my $f (sort keys %field) {
    my @path = split /\./, $f;
    my $open = join '{', map { qq("$_":) } @path;
    my $close = '}' x $#path;
    $chat{"{$msgs,$open$_$close}"} = $f for @{ $field{$f} };
    $chat{"{$msgs,\"stream\":true,$open$_$close}"} = $f for @{ $field{$f} };
}
my %text = (
    '[]' => undef,
    '{}' => 'prompt',
    '{"prompt":""}' => 'prompt',
    '{"prompt":[]}' => 'prompt',
    '{"prompt":[""]}' => 'prompt[0]',
    '{"prompt":[[]]}' => 'prompt[0]',
    '{"prompt":["a",[1]]}' => 'prompt[1]',
    '{"prompt":[1,99999999]}' => 'prompt[1]',
    '{"prompt":[[1],[2,99999999]]}' => 'prompt[1][1]',
    '{"prompt":"x","logprobs":6}' => 'logprobs',
    '{"prompt":"x","echo":true}' => 'echo',
    '{"prompt":"x","suffix":"y"}' => 'suffix',
    '{"prompt":"x","max_tokens":0}' => 'max_tokens',
    '{"prompt":"x","n":2,"best_of":3}' => 'best_of',
    '{"prompt":"x","n":2,"stream":true}' => 'n',
);

my $steps = $d->health->{steps};
for my $try ([ 'chat/completions', \%chat ], [ 'completions', \%text ]) {
    my ($uri, $bodies) = @$try;
    for my $body (sort keys %$bodies) {
        my $param = $bodies->{$body};
        my $r = post($uri, $body);
        my $e = error($r);
        is "$r->{status} " . ($e->{param} // 'null'),
            '400 ' . ($param // 'null'), "$uri $body";
        is join(' ', sort keys %$e), 'code message param type', 'four keys';
        is $e->{type}, 'invalid_request_error', 'its type';
        like $e->{message}, qr/^\Q$param\E: /, 'the message names it'
            if defined $param;
    }
}
is_deeply $d->health->{steps}, $steps, 'the engine had no work of them';

# 92: developer and system at the top are one system prompt
my @counts = map { whole(chat($d, max_tokens => 1, messages => [ @$_,
    { role => 'user', content => 'Hi' } ]))->{usage}{prompt_tokens} }
    [ { role => 'system', content => "One.\n\nTwo." } ],
    [ { role => 'developer', content => 'One.' },
        { role => 'system', content => 'Two.' } ],
    [ { role => 'system', content => 'One.' },
        { role => 'developer', content => 'Two.' } ];
is "@counts[1, 2]", "@counts[0, 0]", 'one system prompt';
cmp_ok $counts[0], '>', 5, 'that is there';

# 38: what asks for nothing changes nothing
my $plain = whole(chat($d, max_tokens => 8));
my $same = whole(chat($d, max_tokens => 8, store => $yes,
    metadata => { a => 'b' }, user => 'u', service_tier => 'auto',
    prompt_cache_key => 'k', safety_identifier => 's',
    prediction => { type => 'content', content => 'x' }, logit_bias => {},
    min_p => 0, modalities => ['text'], unknown => [1]));
is $same->{text}, $plain->{text}, 'the same answer';
is_deeply [ @{ $same->{usage} }{qw(prompt_tokens completion_tokens)} ],
    [ @{ $plain->{usage} }{qw(prompt_tokens completion_tokens)} ],
    'and the same usage';
is $d->stop, 0, 'ends well';
done_testing;
