# A request as the Codex agent sends it, through nginx: 40 kB of instructions,
# tools of seven types. Function tools work, the other types are reported, the
# stream has what that agent reads, and its next turn is taken.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Agents;
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

plan skip_all => 'no penstockd: make first'
    unless -x Pen::Daemon::build() . '/penstockd';
plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my $route = '/v1/responses';
my $skipped = [@Pen::Agents::SKIPPED];

sub site {
    my ($d) = @_;
    my $n = Pen::Nginx->start(socket => $d->{socket});
    return ($n, Pen::Http->new($n), $d->add_key('agent'));
}

sub send_it {
    my ($h, $key, $body, @o) = @_;
    return $h->post($route, Pen::Http::json($body), headers => [ "Authorization: Bearer $key",
        @{ codex_headers() } ], @o);
}

# --- what the agent reads of an event, by its type ---------------------------
my %needs = (
    'response.created' => sub { $_->{response}{id} },
    'response.in_progress' => sub { $_->{response}{id} },
    'response.output_item.added' => sub { $_->{item}{type} && $_->{item}{id} },
    'response.output_item.done' => sub { item_fault($_->{item}) eq '' },
    'response.content_part.added' => sub { $_->{part}{type} },
    'response.content_part.done' => sub { $_->{part}{type} },
    'response.output_text.delta' => sub { length $_->{delta} && $_->{item_id} },
    'response.output_text.done' => sub { defined $_->{text} },
    'response.reasoning_text.delta' => sub {
        length $_->{delta} && $_->{content_index} =~ /^\d+$/ },
    'response.reasoning_text.done' => sub { length $_->{text} },
    'response.function_call_arguments.delta' => sub { length $_->{delta} },
    'response.function_call_arguments.done' => sub { $_->{arguments} },
    'response.custom_tool_call_input.delta' => sub { length $_->{delta} },
    'response.custom_tool_call_input.done' => sub { length $_->{input} },
    'response.completed' => sub { usage_fault($_->{response}) eq '' },
);

sub item_fault {
    my ($i) = @_;
    return join '', grep { !length($i->{$_} // '') } qw(name input call_id)
        if $i->{type} eq 'custom_tool_call';
    return 'status' if ($i->{status} // '') ne 'completed';
    return join '', grep { !length($i->{$_} // '') } qw(name arguments call_id)
        if $i->{type} eq 'function_call';
    my @parts = @{ $i->{content} // [] };
    if ($i->{type} eq 'reasoning') {
        return 'summary' if ref $i->{summary} ne 'ARRAY' || @{ $i->{summary} };
        return 'seal' if ($i->{encrypted_content} // '') !~ /\Apen1\.[\w-]+\z/;
        return join '', grep { $_ ne 'reasoning_text' } map { $_->{type} } @parts;
    }
    return "type $i->{type}" if $i->{type} ne 'message';
    return 'role' if $i->{role} ne 'assistant';
    return join '', grep { $_ ne 'output_text' } map { $_->{type} } @parts;
}

sub usage_fault {
    my $u = $_[0]{usage} // {};
    my @n = (@$u{qw(input_tokens output_tokens total_tokens)},
        $u->{input_tokens_details}{cached_tokens},
        $u->{output_tokens_details}{reasoning_tokens});
    return 'not all numbers' if grep { ($_ // '') !~ /^\d+$/ } @n;
    return $n[0] + $n[1] == $n[2] ? '' : 'sum';
}

# The Response object at a stream's end, after looking at every event.
sub stream_ok {
    my ($r, $name) = @_;
    is $r->{status}, 200, "$name: served" or diag $r->{body};
    like $r->{headers}{'content-type'}, qr{^text/event-stream}, "$name: stream";
    my $s = sse($r->{body});
    is $s->{bad}, '', "$name: framing";
    my @events = @{ $s->{events} };
    my @faults = grep { my ($type, $e) = @$_; my $ok = $needs{$type};
        local $_ = $e; !$ok || !$ok->() } @events;
    is join(' ', map { $_->[0] } @faults), '', "$name: what the agent reads"
        or diag(JSON::PP->new->canonical->encode($faults[0][1]));
    is_deeply [ map { $_->[1]{sequence_number} } @events ], [ 0 .. $#events ],
        "$name: numbered";
    is $events[0][0], 'response.created', "$name: begins";
    is $events[-1][0], 'response.completed', "$name: ends";
    my $end = $events[-1][1]{response};
    is_deeply [ map { $_->[1]{item} } grep {
        $_->[0] eq 'response.output_item.done' } @events ], $end->{output},
        "$name: its items came one by one";
    return $end;
}

# --- 40 kB and a model that calls a shell ------------------------------------
my $call = "I look first.\n</think>\n\nI will list it.\n<tool_call>\n"
    . "<function=exec_command>\n<parameter=cmd>\nls -l\n</parameter>\n"
    . "<parameter=timeout_ms>\n500\n</parameter>\n</function>\n</tool_call>";
my $d = Pen::Daemon->scripted(args => { context => 65_536 },
    env => { PENSTOCK_SCRIPT => $call, PENSTOCK_SCRIPT_MARKUP => 1,
        PENSTOCK_GAP_US => 2_000 });
my ($n, $h, $key) = site($d);
my $r = send_it($h, $key, codex(ask => 'What is here?'));
my $first = stream_ok($r, 'first turn');
is $r->{headers}{'x-skipped-tools'}, join(', ', @$skipped),
    'the header has the types that were skipped';
is_deeply $first->{skipped_tools}, $skipped, 'and so has the answer';
is_deeply [ map { $_->{type} } @{ $first->{output} } ],
    [qw(reasoning message function_call)], 'in the order of the model';
is_deeply [ calls_of($first) ],
    [ [ exec_command => { cmd => 'ls -l', timeout_ms => 500 } ] ],
    'the call, with the types of its schema';
is_deeply [ map { $_->{name} } @{ $first->{tools} } ],
    [qw(exec_command edit_files helpers)],
    'the tools that were served';
ok !$first->{store}, 'not stored';
cmp_ok $first->{usage}{input_tokens}, '>', 5_000, 'the prompt was read';
my ($row) = $d->wait_rows("endpoint = 'responses' AND state = 'done'");
is "$row->{status} $row->{prompt_tokens} $row->{key_id}",
    "200 $first->{usage}{input_tokens} 1", 'a row';

my $second = stream_ok(send_it($h, $key, codex(ask => 'What is here?',
    answer => $first, outputs => ["total 0\n"])), 'second turn');
cmp_ok $second->{usage}{input_tokens}, '>', $first->{usage}{input_tokens},
    'with what was said';
cmp_ok $second->{usage}{input_tokens_details}{cached_tokens}, '>=', 0,
    'a number of cached tokens';

# The opaque field alone says the same as the reasoning's text.
my @bare = map { my %i = %$_; delete $i{content} if $i{type} eq 'reasoning';
    \%i } @{ $first->{output} };
my $sealed = stream_ok(send_it($h, $key, codex(ask => 'What is here?',
    answer => { output => \@bare }, outputs => ["total 0\n"])), 'sealed');
is $sealed->{usage}{input_tokens}, $second->{usage}{input_tokens},
    'reasoning comes back in encrypted_content';

my $member = stream_ok(send_it($h, $key, codex(instructions => 1)),
    'instructions as a member');
my $item = stream_ok(send_it($h, $key, codex()), 'as an item');
is $member->{usage}{input_tokens}, $item->{usage}{input_tokens},
    'say the same';

$r = send_it($h, $key, codex(additional_tools => 1));
$item = stream_ok($r, 'tools in an item');
is $r->{headers}{'x-skipped-tools'}, join(', ', @$skipped),
    'which has the same that is skipped';
is $item->{usage}{input_tokens}, $member->{usage}{input_tokens},
    'and offers the same';
is_deeply $item->{tools}, [], 'the object repeats those of `tools` alone';
is_deeply [ calls_of($item) ], [ calls_of($first) ], 'which are called';

my $whole = send_it($h, $key, codex(ask => 'What is here?',
    more => { stream => JSON::PP::false }))->{json};
is_deeply [ map { my %i = %$_; delete @i{qw(id call_id)}; \%i }
    @{ $whole->{output} } ], [ map { my %i = %$_; delete @i{qw(id call_id)};
    \%i } @{ $first->{output} } ], 'a whole answer says the same';
is_deeply $whole->{skipped_tools}, $skipped, 'and reports the same';

$r = send_it($h, $key, codex(more => { tool_choice => { type => 'mcp',
    server_label => 'edit_files' } }));
is "$r->{status} $r->{json}{error}{param}", '400 tool_choice',
    'a choice of what is skipped is refused';
$r = send_it($h, 'pk-wrong', codex());
is "$r->{status} $r->{json}{error}{code}", '401 invalid_api_key',
    'a wrong key is told';
is $d->stop, 0, 'ends well';

# --- tools of a namespace ----------------------------------------------------
$d = Pen::Daemon->scripted(args => { context => 65_536 },
    env => { PENSTOCK_SCRIPT => "<tool_call>\n"
        . "<function=helpers__start_helper>\n<parameter=task>\nread\n"
        . "</parameter>\n</function>\n</tool_call>",
        PENSTOCK_SCRIPT_MARKUP => 1 });
($n, $h, $key) = site($d);
$first = stream_ok(send_it($h, $key, codex(more => { reasoning =>
    { effort => 'none' } })), 'a helper');
my ($one) = grep { $_->{type} eq 'function_call' } @{ $first->{output} };
is_deeply [ @$one{qw(namespace name arguments)} ],
    [ 'helpers', 'start_helper', '{"task": "read"}' ],
    'the namespace and the name are told apart';
$second = stream_ok(send_it($h, $key, codex(answer => $first, more =>
    { reasoning => { effort => 'none' } })), 'and its turn');
my %joined = (%$one, name => 'helpers__start_helper');
delete $joined{namespace};
is stream_ok(send_it($h, $key, codex(answer => { output => [\%joined] },
    more => { reasoning => { effort => 'none' } })), 'joined')
    ->{usage}{input_tokens}, $second->{usage}{input_tokens},
    'the prompt repeats what the model wrote';
is $d->stop, 0, 'ends well';

# --- a tool that takes a text ------------------------------------------------
my $patch = "begin\n+ \"a\\tb\"\n- \x{6f22}\nend";
my $bytes = $patch;
utf8::encode($bytes);
$d = Pen::Daemon->scripted(args => { context => 65_536 },
    env => { PENSTOCK_SCRIPT => "<tool_call>\n<function=edit_files>\n"
        . "<parameter=input>\n$bytes\n</parameter>\n</function>\n"
        . "</tool_call>", PENSTOCK_SCRIPT_MARKUP => 1,
        PENSTOCK_GAP_US => 2_000 });
($n, $h, $key) = site($d);
my %quick = (more => { reasoning => { effort => 'none' } });
$first = stream_ok($r = send_it($h, $key, codex(%quick)), 'a patch');
($one) = @{ $first->{output} };
is_deeply [ @$one{qw(type name input)} ],
    [ 'custom_tool_call', 'edit_files', $patch ], 'its text, as it was written';
like $one->{id}, qr/\Actc_[0-9a-f]{26}\z/, 'its id';
is join('', map { $_->[1]{delta} } grep {
    $_->[0] eq 'response.custom_tool_call_input.delta' }
    @{ sse($r->{body})->{events} }), $patch, 'the deltas are its text';
$second = stream_ok(send_it($h, $key, codex(%quick, answer => $first)),
    'and its turn');
%joined = (type => 'function_call', call_id => $one->{call_id},
    name => $one->{name}, arguments => JSON::PP->new->encode({
        input => $patch }));
is stream_ok(send_it($h, $key, codex(%quick,
    answer => { output => [\%joined] })), 'as a function')
    ->{usage}{input_tokens}, $second->{usage}{input_tokens},
    'the prompt repeats what the model wrote';
is $d->stop, 0, 'ends well';

# --- the demo model ----------------------------------------------------------
$d = Pen::Daemon->start(args => { threads => 1 });
($n, $h, $key) = site($d);
my @tools = (
    [ 'set_timer', 'Set a timer', { minutes => 'integer' } ],
    [ 'get_weather', 'Get the weather for a city', { city => 'string' } ]);
my %ask = (prompt => 40, tools => \@tools, more => { temperature => 0,
    reasoning => { effort => 'none' } });
$first = stream_ok(send_it($h, $key, codex(%ask,
    ask => 'Set a timer for 18 minutes.')), 'a real model');
is_deeply [ calls_of($first) ], [ [ set_timer => { minutes => 18 } ] ],
    'calls a function';
$second = stream_ok(send_it($h, $key, codex(%ask,
    ask => 'Set a timer for 18 minutes.', answer => $first)), 'and then');
like join('', map { $_->{text} } map { @{ $_->{content} // [] } }
    @{ $second->{output} }), qr/18 minutes/, 'answers in words';
$r = send_it($h, $key, codex());
is "$r->{status} $r->{json}{error}{code}", '400 context_length_exceeded',
    'a prompt over the context is refused';
is $d->stop, 0, 'ends well';
done_testing;
