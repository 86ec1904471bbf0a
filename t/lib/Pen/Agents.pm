package Pen::Agents;
# Requests in the shapes that two command-line agents send, in our own words.
#
#   my $b = codex(ask => 'Set a timer for 18 minutes.');   # Responses, a hash
#   my $b = codex(turn => 2, answer => $object, output => 'ok', ...);
#   my $b = claude(...);                                   # Messages, the same
#   codex_headers(), claude_headers()                      # "Name: value" lists
#   my $s = sse($r->{body});        # {events => [[name, data]...], bad => ''}
#
# `prompt` is the size of the instructions in bytes (40,000), `tools` a list of
# our functions as [name, description, {parameter => type}...]. A second turn
# has the answer's items (or content) as the agent sends them back, and one
# output per call.
#
# Shapes: requests of codex-cli 0.171.0 and claude-code 2.1.197 to a server
# that recorded them, November 2026.
use strict;
use warnings;
use Exporter 'import';
use JSON::PP ();

our @EXPORT = qw(codex claude codex_headers claude_headers sse calls_of);
my $json = JSON::PP->new->utf8->canonical;
my ($yes, $no) = (JSON::PP::true, JSON::PP::false);
my $session = '0190c0de-0000-7000-8000-00000000c0de';

# What the agents offer beside the caller's tools.
my @shell = ('exec_command', 'Run a command in a shell', { cmd => 'string',
    workdir => 'string', timeout_ms => 'number' }, ['cmd']);

# Plain text of about so many bytes: the same for the same number.
sub prose {
    my ($bytes) = @_;
    my @what = qw(file folder test patch command answer branch log review);
    my @do = qw(read check write compare explain keep name);
    my $text = "You help with the code in one folder.\n";
    for (my $i = 0; length $text < $bytes; $i++) {
        $text .= sprintf "%d. Before you %s a %s, %s the %s that belongs to "
            . "it; say in one line why.\n", $i + 1, $do[ $i % @do ],
            $what[ $i % @what ], $do[ ($i * 3 + 1) % @do ],
            $what[ ($i * 5 + 2) % @what ];
        $text .= "\n## Part $i\n" if $i % 12 == 11;
    }
    return substr $text, 0, $bytes;
}

sub schema {
    my ($p, $required) = @_;
    return { type => 'object', additionalProperties => $no,
        properties => { map { $_ => { type => $p->{$_},
            description => "The $_ of the call." } } keys %$p },
        required => $required // [ sort keys %$p ] };
}

sub codex_function {
    my ($name, $what, $p, $required) = @_;
    return { type => 'function', name => $name, description => $what,
        strict => $no, parameters => schema($p, $required) };
}

# --- Codex -------------------------------------------------------------------
# Types that are skipped, in the order of the list, each once.
our @SKIPPED = qw(web_search local_shell tool_search
    image_generation);

sub codex_tools {
    my @mine = @_;
    return [ (map { codex_function(@$_) } \@shell, @mine),
        { type => 'custom', name => 'edit_files',
            description => 'Change files by a patch.', format => {
                type => 'grammar', syntax => 'lark', definition =>
                'start: "begin" LF line+ "end"' . "\n"
                . 'line: /[-+ ][^\n]*/ LF' . "\n" . '%import common.LF' } },
        { type => 'namespace', name => 'helpers',
            description => 'Helpers beside you.', tools => [
                codex_function('start_helper', 'Start one',
                    { task => 'string' }) ] },
        { type => 'web_search', external_web_access => $yes },
        { type => 'local_shell' },
        { type => 'tool_search', execution => 'client', description => 'Find '
            . 'a tool', parameters => schema({ query => 'string' }) },
        { type => 'image_generation', output_format => 'png' },
        { type => 'web_search', search_content_types => ['text'] } ];
}

sub item {
    my ($role, @texts) = @_;
    return { type => 'message', id => "msg_$session", role => $role,
        content => [ map { { type => 'input_text', text => $_ } } @texts ] };
}

# What Codex sends back of an answer's output: no status of what is no call,
# and its own id for outputs.
sub codex_history {
    my ($answer, @outputs) = @_;
    my @items;
    for my $o (@{ $answer->{output} }) {
        my %keep = %$o;
        delete $keep{status} if $o->{type} ne 'function_call';
        push @items, \%keep;
    }
    return @items, map { { type => "$_->{type}_output",
        id => "fco_$session", call_id => $_->{call_id},
        output => shift(@outputs) // 'ok' } }
        grep { $_->{type} =~ /call\z/ } @items;
}

sub codex {
    my %o = (prompt => 40_000, ask => 'Hello', tools => [], @_);
    my @input = (item(developer => prose($o{prompt})),
        item(developer => "Skills: none are installed.\n",
            "Commands run without a sandbox.\n"),
        item(user => "The folder is /srv/work and the shell is bash.\n"),
        item(user => $o{ask}));
    push @input, codex_history($o{answer}, @{ $o{outputs} // [] })
        if $o{answer};
    my %body = (model => 'demo', stream => $yes, input => \@input,
        tools => codex_tools(@{ $o{tools} }), tool_choice => 'auto',
        parallel_tool_calls => $yes, store => $no,
        reasoning => { summary => 'auto' }, text => { verbosity => 'low' },
        include => ['reasoning.encrypted_content'],
        prompt_cache_key => $session, client_metadata => {
            session_id => $session, turn_id => $session,
            'x-codex-turn-metadata' => $json->encode({ model => 'demo',
                sandbox => 'none', turn_started_at_unix_ms => 1 }) },
        %{ $o{more} // {} });
    # Older ones, and newer ones with a model that they know.
    $body{instructions} = shift(@{ $body{input} })->{content}[0]{text}
        if $o{instructions};
    unshift @{ $body{input} }, { type => 'additional_tools',
        id => "at_$session", role => 'developer', tools => delete $body{tools} }
        if $o{additional_tools};
    return \%body;
}

sub codex_headers {
    return [ 'Accept: text/event-stream', 'Accept-Encoding: zstd,gzip',
        'originator: codex_exec', "session-id: $session",
        'User-Agent: codex_exec/0.171.0 (Debian; x86_64)',
        "x-client-request-id: $session" ];
}

# --- Claude Code -------------------------------------------------------------
my $ephemeral = { type => 'ephemeral' };

sub claude_tool {
    my ($name, $what, $p, $required) = @_;
    return { name => $name, description => $what, input_schema => {
        '$schema' => 'https://json-schema.org/draft/2020-12/schema',
        %{ schema($p, $required) } } };
}

# Some tools with the words of schemas that the agent's own have.
sub claude_tools {
    my @all = map { claude_tool(@$_) } \@shell, @_;
    my %words = (
        Edit => { path => { type => 'string', minLength => 1 },
            all => { type => 'boolean', default => $no } },
        Tasks => { list => { type => 'array', maxItems => 32, items => {
            type => 'object', additionalProperties => $no, properties => {
                title => { type => 'string' },
                state => { enum => [qw(open done)] } } } } },
        Fetch => { url => { type => 'string', format => 'uri' },
            wait => { type => 'integer', exclusiveMinimum => 0,
                maximum => 9007199254740991 } },
        Note => { extra => { type => 'object',
            propertyNames => { type => 'string' },
            additionalProperties => {} } },
        Choose => { which => { anyOf => [ { type => 'string',
            pattern => '^[a-z]+$' }, { const => 'none' } ] } },
    );
    for my $name (sort keys %words) {
        my $t = claude_tool($name, "Do what $name says. " . prose(900), {});
        $t->{input_schema}{properties} = $words{$name};
        delete $t->{input_schema}{required};
        push @all, $t;
    }
    push @all, map { claude_tool("Helper$_", prose(400),
        { text => 'string' }) } 1 .. 14;
    return \@all;
}

# What it sends back of an answer: its content, then the results.
sub claude_history {
    my ($answer, @outputs) = @_;
    my @calls = grep { $_->{type} eq 'tool_use' } @{ $answer->{content} };
    return ({ role => 'assistant', content => $answer->{content} },
        @calls ? { role => 'user', content => [ map { {
            type => 'tool_result', tool_use_id => $_->{id},
            content => shift(@outputs) // 'ok', is_error => $no,
            cache_control => $ephemeral } } @calls ] } : ());
}

sub claude {
    my %o = (prompt => 40_000, ask => 'Hello', tools => [], @_);
    my $text = sub { { type => 'text', text => $_[0],
        $_[1] ? (cache_control => $ephemeral) : () } };
    return { model => 'demo', max_tokens => 2000, stream => $yes,
        system => [ $text->('x-billing: version=1;'),
            $text->('You are an agent.', 1), $text->(prose($o{prompt}), 1) ],
        messages => [ { role => 'user', content => [
            $text->("<reminder>\nToday is Monday.\n</reminder>\n"),
            $text->($o{ask}, 1) ] },
            { role => 'system', content => 'Helpers: none.' },
            $o{answer} ? claude_history($o{answer}, @{ $o{outputs} // [] })
                : () ],
        tools => claude_tools(@{ $o{tools} }),
        metadata => { user_id => $json->encode({ device_id => '5b' x 32,
            account_uuid => '', session_id => $session }) },
        thinking => { type => 'adaptive' }, output_config =>
            { effort => 'high' },
        context_management => { edits => [ { type =>
            'clear_thinking_20251015', keep => 'all' } ] },
        %{ $o{more} // {} } };
}

sub claude_headers {
    return [ 'Accept: application/json', 'anthropic-version: 2023-06-01',
        'anthropic-beta: claude-code-20250219,interleaved-thinking-2025-05-14,'
        . 'context-management-2025-06-27', 'x-app: cli',
        'User-Agent: claude-cli/2.1.197 (external, sdk-cli)',
        'x-stainless-lang: js', 'x-stainless-retry-count: 0' ];
}

# --- answers -----------------------------------------------------------------
# Events of a stream with names; `bad` is the first breach of its framing.
sub sse {
    my ($body) = @_;
    my %s = (events => [], bad => '');
    $body =~ s/\n\n\z// or $s{bad} = 'the last event has no end';
    for my $event (split /\n\n/, $body, -1) {
        next if $event =~ /\A:[^\n]*\z/;
        my ($name, $data) = $event =~ /\Aevent: (\S+)\ndata: ([^\n]+)\z/
            or $s{bad} ||= "no event: " . substr $event, 0, 200;
        my $v = defined $data && eval { $json->decode($data) };
        $s{bad} ||= "no JSON: $data" unless $v;
        last if $s{bad};
        $s{bad} ||= "$name is of type $v->{type}" if $v->{type} ne $name;
        push @{ $s{events} }, [ $name, $v ];
    }
    return \%s;
}

# [name, arguments as a value] of an answer's calls, in either dialect.
sub calls_of {
    my ($answer) = @_;
    return map { [ $_->{name}, $_->{input} // $json->decode($_->{arguments}) ] }
        grep { $_->{type} =~ /\A(?:function_call|tool_use)\z/ }
        @{ $answer->{output} // $answer->{content} // [] };
}

1;
