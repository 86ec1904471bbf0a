# tool_choice required and named on the real demo model, whole and streamed:
# calls and nothing else, of functions that are offered or of the one that is
# named, with arguments that a strict client accepts. Expectations: spec
# tandem.md 7 (the row of tool_choice) and check 53, settled.md (finish
# reasons), OpenAI's strict rules, case C24; case C26 has a test of its own.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;

need_demo();
my $json = JSON::PP->new->canonical->allow_nonref;
my $d = Pen::Daemon->start(args => { threads => 1, parallel => 4 });
my %quick = (reasoning_effort => 'none', max_tokens => 400);

sub tool {
    my ($name, $properties, %more) = @_;
    return { type => 'function', function => { name => $name,
        parameters => { type => 'object', properties => $properties, %more } } };
}
sub named { return { type => 'function', function => { name => $_[0] } } }
sub user { return [ { role => 'user', content => $_[0] } ] }

my %fits = (
    get_weather => sub { my ($a) = @_;
        join(',', sort keys %$a) =~ /^city(?:,days)?(?:,unit)?$/
            && !ref $a->{city}
            && (!exists $a->{days} || $json->encode($a->{days}) =~ /^[1-5]$/)
            && (!exists $a->{unit} || $a->{unit} =~ /^[CF]\z/) },
    set_timer => sub { my ($a) = @_;
        join(',', keys %$a) eq 'minutes'
            && $json->encode($a->{minutes}) =~ /^-?\d+$/ },
    get_time => sub { !%{ $_[0] } },
    mark => sub { my ($a) = @_;
        join(',', sort keys %$a) eq 'code,tree' && $a->{code} =~ /^[A-Z]{3}\z/
            && ref $a->{tree} eq 'HASH'
            && !grep { !/^(?:left|right|name)$/ } keys %{ $a->{tree} } },
);
my @tools = (
    tool('get_weather', { city => { type => 'string' },
            days => { type => 'integer', minimum => 1, maximum => 5 },
            unit => { enum => [ 'C', 'F' ] } }, required => ['city']),
    tool('set_timer', { minutes => { type => 'integer' } },
        required => ['minutes']),
    tool('get_time', {}),
    tool('mark', { code => { type => 'string', pattern => '^[A-Z]{3}$' },
            tree => { '$ref' => '#/$defs/tree' } },
        required => [ 'code', 'tree' ],
        '$defs' => { tree => { type => 'object', additionalProperties => $no,
            properties => { name => { type => 'string', maxLength => 20 },
                left => { '$ref' => '#/$defs/tree' },
                right => { '$ref' => '#/$defs/tree' } } } }),
);

# Calls of a stream, joined by OpenAI's rules.
sub stream_calls {
    my ($s) = @_;
    my @calls;
    for my $c (@{ $s->{chunks} }) {
        for my $t (map { @{ $_->{delta}{tool_calls} // [] } }
                @{ $c->{choices} }) {
            my $to = $calls[ $t->{index} ] //= { arguments => '' };
            $to->{name} //= $t->{function}{name};
            $to->{arguments} .= $t->{function}{arguments} // '';
        }
    }
    return map { [ $_->{name}, $_->{arguments} ] } @calls;
}

sub calls_of {
    my ($w) = @_;
    return map { [ $_->{function}{name}, $_->{function}{arguments} ] }
        @{ $w->{choices}[0]{message}{tool_calls} // [] };
}

# One request, whole and streamed; what a strict client makes of it.
sub calls {
    my ($what, $finish, $allowed, %ask) = @_;
    my $w = whole(chat($d, %quick, tools => \@tools, %ask));
    is $w->{status}, 200, "$what: 200" or return diag $json->encode($w);
    my @calls = calls_of($w);
    if ($w->{finish} eq 'length') { # cut, and no call to act on
        return ok 1, "$what: length";
    }
    is $w->{finish}, $finish, "$what: $finish";
    is $w->{text}, undef, "$what: no content";
    my @wrong = grep {
        my ($name, $args) = @$_;
        my $v = eval { $json->decode($args) };
        !$allowed->{$name} || ref $v ne 'HASH' || !$fits{$name}->($v);
    } @calls;
    ok @calls && !@wrong, "$what: calls that fit"
        or diag $json->encode(\@calls);
    my $s = joined(chat($d, %quick, tools => \@tools, %ask, stream => $yes));
    is "$s->{bad}$s->{text}", '', "$what: a good stream without content";
    is $json->encode([ stream_calls($s) ]), $json->encode(\@calls),
        "$what: streamed the same";
    is "@{ $s->{finishes} }", $finish, "$what: and the same reason";
    return scalar @calls;
}

my %all = map { $_ => 1 } keys %fits;
my @words = ('What is the weather in Paris?', 'Set a timer for 18 minutes.',
    'What is the capital of France?', 'Mark the task 314.');
for my $how ([ greedy => temperature => 0 ],
        [ hot => temperature => 1.5, seed => 5 ]) {
    my ($word, %how) = @$how;
    for my $q (@words) {
        my $n = calls("$word, required: $q", 'tool_calls', \%all, %how,
            messages => user($q), tool_choice => 'required');
        is $n, 1, "$word, required: $q: check 53: one call" if $n > 1;
        for my $name (sort keys %fits) {
            calls("$word, $name: $q", 'stop', { $name => 1 }, %how,
                messages => user($q), tool_choice => named($name));
        }
    }
    calls("$word, several", 'tool_calls', \%all, %how,
        messages => user($words[0]), tool_choice => 'required',
        parallel_tool_calls => $yes);
}
my $w = whole(chat($d, %quick, tools => \@tools, messages => user($words[1]),
    tool_choice => 'required'));
is $json->encode([ calls_of($w) ]), '[["set_timer","{\"minutes\": 18}"]]',
    'the model still chooses, and says what it wants';

# --- reasoning ---------------------------------------------------------------
my $free = whole(chat($d, messages => user($words[0]), max_tokens => 400));
$w = whole(chat($d, messages => user($words[0]), max_tokens => 400,
    tools => \@tools, tool_choice => named('get_time')));
ok length $w->{reasoning}, 'the reasoning is free';
is $json->encode([ calls_of($w) ]), '[["get_time","{}"]]',
    'the call comes behind it';

# --- case C24: non-ASCII arguments, the same bytes streamed and whole --------
{
    use utf8;
    my $city = 'Münster 漢 😀';
    my %named = (%quick, messages => user('Hi'), tool_choice => named('f'),
        tools => [ tool('f', { city => { const => $city } },
            required => ['city']) ]);
    $w = whole(chat($d, %named));
    my @calls = calls_of($w);
    is_deeply [ map { $json->decode($_->[1]) } @calls ], [ { city => $city } ],
        'case C24: one document, its value';
    is $json->encode([ stream_calls(joined(chat($d, %named,
        stream => $yes))) ]), $json->encode(\@calls), 'the same bytes streamed';
}

# --- limits ------------------------------------------------------------------
$w = whole(chat($d, %quick, tools => \@tools, messages => user($words[0]),
    tool_choice => 'required', max_tokens => 6));
is $w->{finish}, 'length', 'max_tokens runs out: length';
$w = whole(chat($d, %quick, tools => \@tools, messages => user($words[0]),
    tool_choice => named('get_weather'), max_tokens => 6));
is $w->{finish}, 'length', 'of a named function, too';

# --- what is refused ---------------------------------------------------------
sub refused {
    my ($what, $param, $part, %ask) = @_;
    my $r = chat($d, %quick, messages => user('Hi'), %ask);
    my $e = error($r);
    is $r->{status}, 400, "$what: 400";
    is $e->{param}, $param, "$what: $param";
    like $e->{message}, $part, "$what: says why";
}

refused('a name that is not offered', 'tool_choice', qr/not in tools/,
    tools => \@tools, tool_choice => named('other'));
refused('required without tools', 'tool_choice', qr/tools/,
    tool_choice => 'required');
refused('allowed_tools', 'tool_choice', qr/accepted is/, tools => \@tools,
    tool_choice => { type => 'allowed_tools', allowed_tools => { mode =>
        'required', tools => [ named('get_time') ] } });
my $unique = tool('f', { list => { type => 'array', uniqueItems => $yes } });
refused('a keyword that is not supported', 'tools[1].function.parameters',
    qr{uniqueItems at #/properties/list}, tools => [ $tools[2], $unique ],
    tool_choice => 'required');
is whole(chat($d, %quick, tools => [ $unique ]))->{status}, 200,
    'case C26: with auto, tools cost no grammar';

# --- strict functions --------------------------------------------------------
sub strict {
    my ($properties, %more) = @_;
    my $t = tool('f', $properties, %more);
    $t->{function}{strict} = $yes;
    return $t;
}
refused('strict without additionalProperties', 'tools[0].function.parameters',
    qr/^[^']*Invalid schema for function 'f': In context=\(\), 'additionalProperties' is required to be supplied and to be false/,
    tools => [ strict({ a => { type => 'string' } }, required => ['a']) ]);
refused('strict with an optional parameter', 'tools[0].function.parameters',
    qr/'required' is required to be supplied and to be an array including every key in properties/,
    tools => [ strict({ a => { type => 'string' } }, required => [],
        additionalProperties => $no) ]);
is whole(chat($d, %quick, tools => [ strict({ a => { type => 'string' } },
    required => ['a'], additionalProperties => $no) ]))->{status}, 200,
    'a strict function as it has to be';
refused('strict is a word', 'tools[0].function.strict', qr/true or false/,
    tools => [ { type => 'function', function => { name => 'f',
        strict => 'yes' } } ]);

is $d->stop, 0, 'the daemon ends with 0';
done_testing();
