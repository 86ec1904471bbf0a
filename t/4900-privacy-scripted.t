# Text of prompts and answers, keys and addresses appear in no log and in no
# database file, whatever happens to the request.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Http;

my $canary = 'zebrafish-5517-marzipan';
my $reply = 'heliotrope-9921-quokka';

# A chat that offers tools of these names.
sub offer {
    my ($names, %more) = @_;
    return Pen::Http::chat(40, messages => [ { role => 'user',
        content => 'x' } ], %more, tools => [ map { { type => 'function',
        function => { name => $_, description => $_, parameters => {
            type => 'object', properties => { $_ => { const => $_ } } } } } }
        @$names ]);
}

my $d = Pen::Daemon->scripted(
    args => { 'log-level' => 'debug', 'body-max' => 20_000 },
    env => { PENSTOCK_SCRIPT_MARKUP => 1, PENSTOCK_SCRIPT =>
        "$reply <tool_call>\n<function=$reply>\n<parameter=$reply>\n$reply"
        . "\n</parameter>\n</function>\n</tool_call>" });
my $chat = '/v1/chat/completions';
my @ask = map { ref $_ ? Pen::Http::json($_) : $_ } (
    Pen::Http::chat(40, messages => [ { role => 'user', content => $canary } ]),
    Pen::Http::chat(40, messages => [ { role => 'user', content => $canary } ],
        stream => JSON::PP::false),
    Pen::Http::chat(40, messages => [ { role => 'user', content => $canary } ],
        stop => [ $reply, $canary ], user => $canary),
    Pen::Http::chat(40, messages => [ { role => $canary, content => 'x' } ]),
    Pen::Http::chat(40, model => $canary),
    Pen::Http::chat(40, temperature => $canary),
    Pen::Http::chat(40, messages => [ { role => 'user', content => 'x',
        $canary => $canary } ], $canary => 1, tools => [$canary]),
    offer([$canary]), offer([ $canary, $canary ]),
    offer([$canary], tool_choice => $canary),
    offer([$canary], tool_choice => { type => 'function',
        function => { name => $canary } }),
    offer([$canary], messages => [ { role => 'user', content => 'x' },
        { role => 'assistant', tool_calls => [ { id => $canary,
            function => { name => $canary, arguments => $canary } } ] },
        { role => 'tool', tool_call_id => $canary, content => $canary } ]),
    Pen::Http::chat(40, messages => [ { role => 'user',
        content => "$canary " x 5000 } ]),
    Pen::Http::chat(40, messages => [ { role => 'user',
        content => "$canary " x 500 } ]),
    qq({"messages":[{"role":"user","content":"$canary"), $canary, qq("$canary"),
    qq({"$canary":{"$canary":[) . '[' x 200,
);
my (%seen, $echo);
for my $body (@ask) {
    my $r = Pen::Fcgi->request($d->{socket}, uri => $chat, body => $body,
        params => { HTTP_AUTHORIZATION => "Bearer $canary",
            HTTP_COOKIE => $canary });
    $seen{ $r->{status} // 'none' }++;
    $echo //= $r->{body} if $r->{status} != 200 && $r->{body} =~ /zebra|marzi/;
}
# The same of responses and messages, as items and blocks: text in every place
# where it may stand, tools of that name and of that type, wrong fields.
my @text = ({ type => 'input_text', text => $canary });
my %part = (type => 'text', text => $canary);
my @item = ({ role => 'user', content => \@text }, { type => 'reasoning',
    summary => [], content => [ { type => 'reasoning_text', text => $canary } ] },
    { type => 'function_call', call_id => $canary, name => $canary,
        arguments => qq({"$canary":"$canary"}) },
    { type => 'function_call_output', call_id => $canary, output => \@text });
my @block = ({ role => 'user', content => [ \%part ] }, { role => 'assistant',
    content => [ { type => 'thinking', thinking => $canary,
        signature => 'pen1.' }, \%part, { type => 'tool_use', id => $canary,
        name => $canary, input => { $canary => $canary } } ] },
    { role => 'user', content => [ { type => 'tool_result', tool_use_id =>
        $canary, content => [ \%part ] } ] });
my %kinds = ('/v1/responses' => [ map { { max_output_tokens => 40, %$_ } }
    { input => $canary, instructions => $canary }, { input => \@item,
        user => $canary, metadata => { $canary => $canary } },
    { input => \@item, tools => [ { type => 'function', name => $canary,
        description => $canary, parameters => {} }, { type => $canary } ] },
    { input => $canary, tools => [ { type => $canary } ], tool_choice =>
        { type => 'function', name => $canary } },
    { input => [ { type => $canary } ] },
    { input => [ { role => $canary, content => $canary } ] },
    { input => $canary, previous_response_id => "resp_$canary" },
    { input => [ { type => 'item_reference', id => $canary } ] },
    { input => $canary, include => [$canary], $canary => 1 },
    { input => $canary, text => { format => { type => $canary } } } ],
    '/v1/messages' => [ map { { max_tokens => 40, %$_ } }
    { messages => [ { role => 'user', content => $canary } ], system =>
        $canary }, { messages => \@block, metadata => { user_id => $canary } },
    { messages => \@block, stop_sequences => [$reply], tools => [ { name =>
        $canary, description => $canary, input_schema => { type => 'object' } },
        { type => $canary, name => $canary } ] },
    { messages => \@block, tool_choice => { type => 'tool', name => $canary } },
    { messages => [ { role => 'user', content => [ { type => $canary } ] } ] },
    { messages => [ { role => $canary, content => $canary } ] },
    { messages => \@block, system => [ { type => $canary } ], $canary => 1 },
    { messages => \@block, thinking => { type => $canary } } ]);
for my $uri (sort keys %kinds) {
    for my $body (map { ($_, { %$_, stream => JSON::PP::true }) }
            @{ $kinds{$uri} }) {
        push @ask, Pen::Http::json($body);
        my $r = Pen::Fcgi->request($d->{socket}, uri => $uri, body => $ask[-1],
            params => { HTTP_X_API_KEY => $canary });
        $seen{ "$uri " . ($r->{status} // 'none') }++;
        $echo //= $r->{body} if $r->{status} != 200
            && $r->{body} =~ /zebra|marzi/;
    }
    my $count = $uri eq '/v1/messages' ? "$uri/count_tokens"
        : "$uri/input_tokens";
    $seen{"$count " . Pen::Fcgi->request($d->{socket}, uri => $count,
        body => Pen::Http::json($kinds{$uri}[1]))->{status} }++;
    ok $seen{"$uri 200"} && $seen{"$uri 400"} && $seen{"$count 200"},
        "$uri: answers and refusals" or diag explain \%seen;
}
ok $seen{200} && $seen{400}, 'answers and refusals of many kinds'
    or diag explain \%seen;
is $echo, undef, 'and no refusal repeats what it was sent';
# Forms: served, or refused with names of the schema in the answer alone.
my @forms = map { Pen::Http::json(Pen::Http::chat(40, messages => [ { role =>
    'user', content => 'x' } ], %$_)) }
    (map { { structured_outputs => $_ } } { choice => [$canary] },
        { regex => $canary }, { regex => "($canary" },
        { json => { title => $canary, const => $canary } }),
    map { { response_format => { type => 'json_schema', json_schema => {
        name => $canary, %$_ } } } }
        { schema => { properties => { $canary => { enum => [$canary] } },
            required => [$canary] } },
        { schema => { properties => { $canary => { uniqueItems =>
            JSON::PP::true } } } },
        { schema => { '$ref' => "#/\$defs/$canary" } },
        { strict => JSON::PP::true, schema => { type => 'object',
            properties => { $canary => { type => 'object' } } } };
my %formed;
$formed{ Pen::Fcgi->request($d->{socket}, uri => $chat, body => $_)->{status} }++
    for @forms;
is_deeply \%formed, { 200 => 4, 400 => 4 }, 'forms, good and bad';
push @ask, @forms;
Pen::Fcgi->request($d->{socket}, uri => "/v1/models/$canary");
Pen::Fcgi->request($d->{socket}, uri => "/$canary?$canary");
Pen::Fcgi->request($d->{socket}, uri => $chat, body => $ask[0],
    params => { REMOTE_ADDR => '192.0.2.77', HTTP_AUTHORIZATION =>
        "Bearer pk-$canary", PENSTOCK_EDGE => '' });
my $f = Pen::Fcgi->connect($d->{socket});
$f->send_request(uri => $chat, body => $ask[0],
    params => { CONTENT_LENGTH => 5 + length $ask[0] });
$f->response(5);
$d->wait_rows("state <> 'open'", scalar @ask);
is $d->stop, 0, 'the daemon ends well';

my @files = grep { -f } glob "$d->{dir}/*";
cmp_ok scalar @files, '>=', 2, 'log and database are there';
for my $file (@files) {
    open my $in, '<:raw', $file or next;
    local $/;
    my $data = <$in> // '';
    my ($name) = $file =~ m{([^/]+)$};
    unlike $data, qr/zebrafish|marzipan/, "no prompt, no key in $name";
    unlike $data, qr/heliotrope|quokka/, "no answer in $name";
    unlike $data, qr/192\.0\.2\.77/, "no address in $name";
}
# Names of the admin's choice may hold spaces: a log line keeps them together.
my $spaced = Pen::Daemon->scripted(args => { 'model-id' => 'my model' });
my $r = Pen::Fcgi->request($spaced->{socket}, uri => $chat,
    body => '{"messages":[{"role":"user","content":"hi"}],"max_tokens":2}');
is $r->{status}, 200, 'a model whose name has a space answers';
is $spaced->stop, 0, 'ends well';
like $spaced->log, qr/ info model id="my model" file="/, 'the start line quotes its name';
like $spaced->log, qr/ info req .* model="my model" status=200 /, 'so does the line of a request';
done_testing;
