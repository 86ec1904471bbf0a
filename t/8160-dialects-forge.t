# No string of a caller becomes structure in /v1/responses or /v1/messages:
# each place of a body where one may stand (texts, ids, names, keys, arguments,
# outputs, reasoning, seals, tool types, metadata) gets the markers of the chat
# format, and the prompt grows by what their text costs, by nothing where the
# place is no part of it, or the place is refused by its name.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use MIME::Base64 qw(encode_base64url);
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;

need_demo();
my $json = JSON::PP->new->utf8->canonical;
my $build = Pen::Daemon::build();
my @markers = qw(<|im_start|> <|im_end|> <think> </think> <tool_call>
    </tool_call> <tool_response> </tool_response> <|endoftext|>);
my $times = 4;

# Tokens of a marker as text, so often; of structure it would be $times.
my %as_text = map { my $m = $_ x $times;
    chomp(my $ids = qx{$build/penstock tokenize -m $Pen::Daemon::DEMO '$m'});
    $_ => scalar(split /,/, $ids) } @markers;
cmp_ok $as_text{$_}, '>', 3 * $times, "$_ is several tokens as text"
    for @markers;

my $schema = { type => 'object', title => 'tt', additionalProperties => $no,
    properties => { city => { type => 'string', description => 'dd',
        enum => [ 'Ulm', 'Bonn' ] } }, required => ['city'] };
my %responses = (
    max_output_tokens => 1, instructions => 'be short',
    input => [
        { type => 'message', id => 'msg_1', role => 'developer',
            content => [ { type => 'input_text', text => 'kind' } ] },
        { role => 'user', content => 'how is Ulm?' },
        { type => 'reasoning', id => 'rs_1', summary => [ {
            type => 'summary_text', text => 'ss' } ], content => [ {
            type => 'reasoning_text', text => 'hm' } ] },
        { type => 'reasoning', id => 'rs_2', summary => [],
            encrypted_content => 'pen1.aG0' },
        { type => 'message', id => 'msg_2', role => 'assistant',
            status => 'completed', content => [ { type => 'output_text',
                text => 'I look', annotations => [] } ] },
        { type => 'function_call', id => 'fc_1', call_id => 'call_1',
            name => 'look', arguments => '{"city":"Ulm","k":{"l":["w"]}}' },
        { type => 'function_call', id => 'fc_2', call_id => 'call_2',
            name => 'look', arguments => '{"city":"Bonn"}' },
        { type => 'function_call_output', id => 'fco_1', call_id => 'call_1',
            output => 'rain' },
        { type => 'function_call_output', call_id => 'call_2', output => [
            { type => 'input_text', text => 'sun' } ] },
        { type => 'custom_tool_call', id => 'ctc_1', call_id => 'call_3',
            name => 'look', namespace => 'nn', input => 'a patch' },
        { type => 'custom_tool_call_output', call_id => 'call_3',
            output => 'applied' },
        { type => 'web_search_call', id => 'ws_1', status => 'completed',
            action => { type => 'search', query => 'q' } },
        { role => 'user', content => [ { type => 'input_text',
            text => 'and now?' } ] },
    ],
    tools => [
        { type => 'function', name => 'look', description => 'looks',
            parameters => $schema },
        { type => 'custom', name => 'cc', description => 'ee',
            format => { type => 'grammar', syntax => 'lark',
                definition => 'dd' } },
        { type => 'namespace', name => 'nn', description => 'nd', tools => [
            { type => 'function', name => 'nf', description => 'na' },
            { type => 'custom', name => 'nc' } ] },
        { type => 'web_search', filters => { allowed_domains => ['xx'] } },
    ],
    metadata => { kk => 'vv' }, client_metadata => { k => 'v' },
    prompt_cache_key => 'p', safety_identifier => 's', user => 'u',
);
my %messages = (
    max_tokens => 1,
    system => [ { type => 'text', text => 'be short',
        cache_control => { type => 'ephemeral' } } ],
    messages => [
        { role => 'user', content => 'how is Ulm?' },
        { role => 'assistant', content => [
            { type => 'thinking', thinking => 'hm', signature => 'ss' },
            { type => 'thinking', thinking => '', signature => 'pen1.aG0' },
            { type => 'redacted_thinking', data => 'rr' },
            { type => 'text', text => 'I look' },
            { type => 'tool_use', id => 'toolu_1', name => 'look',
                input => { city => 'Ulm', k => { l => ['w'] } } },
            { type => 'tool_use', id => 'toolu_2', name => 'look',
                input => { city => 'Bonn' } } ] },
        { role => 'user', content => [
            { type => 'tool_result', tool_use_id => 'toolu_1',
                content => 'rain' },
            { type => 'tool_result', tool_use_id => 'toolu_2',
                content => [ { type => 'text', text => 'sun' } ] },
            { type => 'text', text => 'and' },
            { type => 'document', title => 'dt', context => 'dc',
                source => { type => 'text', media_type => 'text/plain',
                    data => 'a page' } },
            { type => 'text', text => 'now?' } ] },
    ],
    tools => [
        { name => 'look', description => 'looks', input_schema => $schema },
        { type => 'web_search_20250305', name => 'web_search',
            user_location => { type => 'approximate', city => 'x' } },
    ],
    metadata => { user_id => 'uu' },
);

# [path, body] with `mark` behind one string or key, for every one.
sub variants {
    my ($v, $mark, $path) = @_;
    if (ref $v eq 'ARRAY') {
        return map { my $i = $_; map { my @l = @$v; $l[$i] = $_->[1];
            [ $_->[0], [@l] ] } variants($v->[$i], $mark, "$path\[$i]") }
            0 .. $#$v;
    }
    if (ref $v eq 'HASH') {
        my @all;
        for my $k (sort keys %$v) {
            push @all, map { [ $_->[0], { %$v, $k => $_->[1] } ] }
                variants($v->{$k}, $mark, "$path.$k");
            my %renamed = (%$v, "$k$mark" => $v->{$k});
            delete $renamed{$k};
            push @all, [ "$path.$k (key)", \%renamed ];
        }
        return @all;
    }
    return if ref $v || !defined $v || $v =~ /\A\d+\z/;
    return [ "$path (seal)", 'pen1.' . encode_base64url("hm$mark") ]
        if $v =~ /\Apen1\./;
    if ($path =~ /\.arguments\z/) { # JSON in a string
        my $inner = $json->decode($v);
        return map { [ "$path $_->[0]", $json->encode($_->[1]) ] }
            variants($inner, $mark, '');
    }
    return [ $path, $v . $mark ];
}

my $d = Pen::Daemon->scripted(args => { thinking => 'off' });
sub tokens {
    my ($uri, $body) = @_;
    my $r = Pen::Fcgi->request($d->{socket}, uri => $uri, timeout => 60,
        body => $json->encode($body));
    my $v = eval { $json->decode($r->{body}) } // {};
    my $u = $v->{usage} // {};
    return ($r->{status}, ($u->{input_tokens} // 0)
        + ($u->{cache_read_input_tokens} // 0), $r);
}

for my $case ([ '/v1/responses', \%responses ], [ '/v1/messages', \%messages ]) {
    my ($uri, $body) = @$case;
    my ($status, $base, $r) = tokens($uri, $body);
    is $status, 200, "$uri: the request without markers" or diag $r->{body};
    my (%seen, @bad, %grew, %plain);
    for my $v (variants($body, 'q', '')) { # what a letter makes of each place
        ($status, my $n) = tokens($uri, $v->[1]);
        $plain{ $v->[0] } = $n if $status == 200;
    }
    for my $m (@markers) {
        my $mark = $m x $times;
        for my $v (variants($body, $mark, '')) {
            my ($path, $forged) = @$v;
            ($status, my $n, $r) = tokens($uri, $forged);
            $seen{$status}++;
            if ($status == 200) {
                my $more = $n - ($plain{$path} // $base);
                $grew{$path} = 1 if $more > 2;
                push @bad, "$path: $m makes $more tokens"
                    if $more > 2 && $more < $as_text{$m} - 6;
            } elsif ($status != 400) {
                push @bad, "$path: $status";
            } elsif ($r->{body} =~ /\Q$m\E/) {
                push @bad, "$path: the error has the marker";
            }
            last unless $d->alive;
        }
    }
    is_deeply \@bad, [], "$uri: nothing is structure";
    cmp_ok $seen{200}, '>', 300, "$uri: most were served";
    my @text = $uri =~ /messages/ ? ('.system[0].text', '.messages[0].content',
        '.messages[1].content[3].text', '.messages[1].content[4].input.city',
        '.messages[1].content[4].input.city (key)',
        '.messages[2].content[0].content',
        '.messages[2].content[1].content[0].text',
        '.messages[2].content[3].source.data', '.tools[0].description',
        '.tools[0].input_schema.properties.city.enum[0]')
        : ('.instructions', '.input[0].content[0].text', '.input[1].content',
        '.input[4].content[0].text', '.input[5].arguments .city',
        '.input[5].arguments .city (key)', '.input[7].output',
        '.input[8].output[0].text', '.input[9].input', '.input[10].output',
        '.input[12].content[0].text', '.tools[0].description',
        '.tools[0].parameters.properties.city.enum[0]');
    is_deeply [ grep { !$grew{$_} } @text ], [],
        "$uri: what is said is in the prompt, as text";
}
ok $d->alive, 'the daemon lives';
is $d->stop, 0, 'ends well';

# --- what was stored, and what a model wrote, is text as well -----------------
my $all = join '', @markers;
my $text = 0;
$text += $as_text{$_} / $times for @markers;
$d = Pen::Daemon->scripted(args => { thinking => 'off', 'responses-keep' => 1 },
    env => { PENSTOCK_SCRIPT => "so $all it is" });
sub respond {
    my (%more) = @_;
    my $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/responses',
        timeout => 60, body => $json->encode({ input => 'Hi', %more }));
    is $r->{status}, 200, 'served' or diag $r->{body};
    return $json->decode($r->{body});
}
my $plain = respond();
my $first = respond(input => "Hi$all", metadata => { a => $all });
is $first->{usage}{input_tokens} - $plain->{usage}{input_tokens}, $text,
    'markers of a caller cost what their text costs';
my $said = join '', map { $_->{text} } map { @{ $_->{content} } }
    @{ $first->{output} };
my $next = respond(previous_response_id => $first->{id}, input => 'And?');
my $inline = respond(input => [ { role => 'user', content => "Hi$all" },
    @{ $first->{output} }, { role => 'user', content => 'And?' } ]);
my $by_id = respond(input => [ { role => 'user', content => "Hi$all" },
    { type => 'item_reference', id => $first->{output}[0]{id} },
    { role => 'user', content => 'And?' } ]);
is $_->{usage}{input_tokens}, $inline->{usage}{input_tokens},
    'stored or sent again, it is the same prompt' for $next, $by_id;
cmp_ok $next->{usage}{input_tokens}, '>', 2 * $text,
    'in which both are text';
like $said, qr/\Q$markers[0]\E/, 'a model may write them';
is $d->stop, 0, 'ends well';
done_testing;
