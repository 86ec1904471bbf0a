# A request as Claude Code sends it, through nginx: system blocks with
# cache_control, twenty tools, a system message among the messages, betas.
# Tools work, the stream has what that agent reads, its next turn is taken,
# tokens can be counted.
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

sub site {
    my ($d) = @_;
    my $n = Pen::Nginx->start(socket => $d->{socket});
    return ($n, Pen::Http->new($n), $d->add_key('agent'));
}

sub send_it {
    my ($h, $key, $body, %o) = @_;
    return $h->post('/v1/messages' . ($o{path} // '') . '?beta=true',
        Pen::Http::json($body), headers => [ $o{auth} // "Authorization: Bearer $key",
            @{ claude_headers() } ]);
}

# The message that a stream adds up to, by the rules of the reference.
sub added_up {
    my ($r, $name) = @_;
    is $r->{status}, 200, "$name: served" or diag $r->{body};
    like $r->{headers}{'content-type'}, qr{^text/event-stream}, "$name: stream";
    my $s = sse($r->{body});
    my ($m, @json, $open, $over);
    my $bad = $s->{bad};
    for my $event (@{ $s->{events} }) {
        my ($type, $e) = @$event;
        $bad ||= "$type behind the end" if $over;
        if ($type eq 'message_start') {
            $bad ||= 'a second start' if $m;
            $m = $e->{message};
        } elsif ($type eq 'content_block_start') {
            $bad ||= 'blocks overlap or jump'
                if defined $open || $e->{index} != @{ $m->{content} };
            push @{ $m->{content} }, $e->{content_block};
            push @json, '';
            $open = $e->{index};
        } elsif ($type eq 'content_block_delta') {
            my ($b, $delta) = ($m->{content}[-1], $e->{delta});
            $bad ||= "delta of $e->{index}" if ($open // -1) != $e->{index};
            my $kind = $delta->{type} =~ s/_delta\z//r;
            $json[-1] .= $delta->{partial_json}, next if $kind eq 'input_json';
            $b->{$kind} .= $delta->{$kind};
        } elsif ($type eq 'content_block_stop') {
            $bad ||= "stop of $e->{index}" if ($open // -1) != $e->{index};
            $m->{content}[-1]{input} = JSON::PP->new->utf8->decode($json[-1])
                if $m->{content}[-1]{type} eq 'tool_use' && length $json[-1];
            $open = undef;
        } elsif ($type eq 'message_delta') {
            %$m = (%$m, %{ $e->{delta} });
            $m->{usage} = { %{ $m->{usage} }, %{ $e->{usage} } };
        } elsif ($type eq 'message_stop') {
            $over = 1;
        } elsif ($type ne 'ping') {
            $bad ||= "event $type";
        }
    }
    $bad ||= 'no end' unless $over;
    is $bad, '', "$name: in order";
    is join(' ', @$m{qw(type role model)}), 'message assistant demo',
        "$name: a message";
    my @n = @{ $m->{usage} }{qw(input_tokens output_tokens
        cache_read_input_tokens cache_creation_input_tokens)};
    is scalar(grep { ($_ // '') =~ /^\d+$/ } @n), 4, "$name: usage";
    return $m;
}

# --- 40 kB and a model that calls a shell ------------------------------------
my $call = "I look first.\n</think>\n\nI will list it.\n<tool_call>\n"
    . "<function=exec_command>\n<parameter=cmd>\nls -l\n</parameter>\n"
    . "<parameter=timeout_ms>\n500\n</parameter>\n</function>\n</tool_call>";
my $d = Pen::Daemon->scripted(args => { context => 65_536 },
    env => { PENSTOCK_SCRIPT => $call, PENSTOCK_SCRIPT_MARKUP => 1,
        PENSTOCK_GAP_US => 2_000 });
my ($n, $h, $key) = site($d);
my $r = send_it($h, $key, claude(ask => 'What is here?'));
my $first = added_up($r, 'first turn');
ok $r->{headers}{'request-id'}, 'request-id';
is $r->{headers}{'request-id'}, $r->{headers}{'x-request-id'}, 'of the request';
is $r->{headers}{'x-skipped-tools'}, undef, 'nothing was skipped';
ok !exists $first->{skipped_tools}, 'nor listed';
is_deeply [ map { $_->{type} } @{ $first->{content} } ],
    [qw(thinking text tool_use)], 'in the order of the model';
is $first->{stop_reason}, 'tool_use', 'stops for a tool';
is_deeply [ calls_of($first) ],
    [ [ exec_command => { cmd => 'ls -l', timeout_ms => 500 } ] ],
    'the call, with the types of its schema';
like $first->{content}[0]{thinking}, qr/^I look first/, 'thoughts';
ok exists $first->{content}[0]{signature}, 'with a signature';
my ($row) = $d->wait_rows("endpoint = 'messages' AND state = 'done'");
is "$row->{status} $row->{key_id}", '200 1', 'a row';
is $row->{prompt_tokens}, $first->{usage}{input_tokens}
    + $first->{usage}{cache_read_input_tokens}, 'with the prompt';
cmp_ok $row->{prompt_tokens}, '>', 10_000, 'all of it';

my %next = (ask => 'What is here?', answer => $first, outputs => ["total 0\n"]);
my $second = added_up(send_it($h, $key, claude(%next)), 'second turn');
sub prompt { my $u = $_[0]{usage};
    return $u->{input_tokens} + $u->{cache_read_input_tokens} }
cmp_ok prompt($second), '>', prompt($first), 'with what was said';

# --- count_tokens ------------------------------------------------------------
my $body = claude(%next);
delete @$body{qw(max_tokens stream metadata)};
$r = send_it($h, $key, $body, path => '/count_tokens');
is $r->{status}, 200, 'count_tokens' or diag $r->{body};
is_deeply $r->{json}, { input_tokens => prompt($second) },
    'counts what the request would';

# --- what is skipped ---------------------------------------------------------
$body = claude(more => { stream => JSON::PP::false });
push @{ $body->{tools} },
    { type => 'web_search_20250305', name => 'web_search', max_uses => 8 },
    { type => 'bash_20250124', name => 'bash' };
$r = send_it($h, $key, $body);
is $r->{status}, 200, 'typed tools are no fault' or diag $r->{body};
is $r->{headers}{'x-skipped-tools'}, 'web_search_20250305, bash_20250124',
    'but reported';
is_deeply $r->{json}{skipped_tools}, [qw(web_search_20250305 bash_20250124)],
    'in the answer too';
is_deeply [ calls_of($r->{json}) ], [ calls_of($first) ],
    'a whole answer has the same call';

# --- keys and errors ---------------------------------------------------------
is send_it($h, $key, claude(), auth => "x-api-key: $key")->{status}, 200,
    'x-api-key';
$r = send_it($h, $key, claude(), auth => 'x-api-key: pk-wrong');
is $r->{status}, 401, 'a wrong one';
is "$r->{json}{type} $r->{json}{error}{type}", 'error authentication_error',
    'is told in its shape';
$body = claude();
delete $body->{max_tokens};
$r = send_it($h, $key, $body);
is "$r->{status} $r->{json}{error}{type}", '400 invalid_request_error',
    'no max_tokens';
like $r->{json}{error}{message}, qr/max_tokens/, 'which is named';
is $r->{json}{request_id}, $r->{headers}{'request-id'}, 'with the id';
is $d->stop, 0, 'ends well';

# --- a format that has no place for a late system message --------------------
$d = Pen::Daemon->scripted(args => { context => 65_536, 'chat-format' =>
    't/data/chat/templates/Qwen3.5-4B.jinja' });
($n, $h, $key) = site($d);
my $with = added_up(send_it($h, $key, claude()), 'no late system messages');
$body = claude();
splice @{ $body->{messages} }, 1, 1;
my $less = added_up(send_it($h, $key, $body), 'without one');
cmp_ok prompt($with), '>', prompt($less) + 5, 'it is read as a user\'s';
is $d->stop, 0, 'ends well';

# --- the demo model ----------------------------------------------------------
$d = Pen::Daemon->start(args => { threads => 1 });
($n, $h, $key) = site($d);
my %ask = (prompt => 40, ask => 'Set a timer for 18 minutes.',
    more => { temperature => 0, thinking => { type => 'disabled' },
        messages => [ { role => 'user', content =>
            'Set a timer for 18 minutes.' } ],
        tools => [ Pen::Agents::claude_tool('set_timer', 'Set a timer',
            { minutes => 'integer' }), Pen::Agents::claude_tool('get_weather',
            'Get the weather for a city', { city => 'string' }) ] });
$first = added_up(send_it($h, $key, claude(%ask)), 'a real model');
is_deeply [ calls_of($first) ], [ [ set_timer => { minutes => 18 } ] ],
    'calls a function';
push @{ $ask{more}{messages} }, Pen::Agents::claude_history($first);
$second = added_up(send_it($h, $key, claude(%ask)), 'and then');
like join('', map { $_->{text} // '' } @{ $second->{content} }),
    qr/18 minutes/, 'answers in words';
is $second->{stop_reason}, 'end_turn', 'and ends its turn';
$r = send_it($h, $key, claude());
is "$r->{status} $r->{json}{error}{type}", '400 invalid_request_error',
    'a prompt over the context is refused';
is $d->stop, 0, 'ends well';
done_testing;
