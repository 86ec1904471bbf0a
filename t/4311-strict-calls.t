# Strict functions with tool_choice auto on the real demo model, whole and
# streamed: the model calls or not as it did, and what it calls obeys the
# schema. Expectations: OpenAI's reference (strict function calling), case C26
# (tools that are not strict cost no grammar), docs/structured-outputs.md.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp ();
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;

need_demo();
my $json = JSON::PP->new->canonical->allow_nonref;
my $d = Pen::Daemon->start(args => { threads => 1, parallel => 4 });
my %quick = (reasoning_effort => 'none', max_tokens => 400);

# A timer whose argument has this schema; strict, or not.
sub timer {
    my ($minutes, $strict, $name) = @_;
    return { type => 'function', function => { name => $name // 'set_timer',
        description => 'Set a timer',
        defined $strict ? (strict => $strict) : (), parameters => {
            type => 'object', properties => { minutes => $minutes },
            required => ['minutes'], additionalProperties => $no } } };
}

sub calls_of {
    my ($w) = @_;
    return map { [ $_->{function}{name}, $_->{function}{arguments} ] }
        @{ $w->{choices}[0]{message}{tool_calls} // [] };
}

# Calls of a stream, joined by OpenAI's rules.
sub stream_calls {
    my ($s) = @_;
    my @calls;
    for my $t (map { @{ $_->{delta}{tool_calls} // [] } }
            map { @{ $_->{choices} } } @{ $s->{chunks} }) {
        my $to = $calls[ $t->{index} ] //= [ undef, '' ];
        $to->[0] //= $t->{function}{name};
        $to->[1] .= $t->{function}{arguments} // '';
    }
    return @calls;
}

sub user { return (messages => [ { role => 'user', content => $_[0] } ]) }

sub minutes {
    my ($w) = @_;
    my @calls = calls_of($w);
    return 'not one call' if @calls != 1 || $calls[0][0] ne 'set_timer';
    return $json->encode(eval { $json->decode($calls[0][1])->{minutes} });
}

sub misses {
    my $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/cache/stats');
    return $json->decode($r->{body})->{grammars}{misses};
}

# --- tools that are not strict, or not all of them ---------------------------
my $bound = { type => 'integer', maximum => 10 };
my %timer = (user('Set a timer for 18 minutes.'));
my $other = timer({ type => 'integer' }, undef, 'ring_door');
for my $case ([ 'without strict', timer($bound) ],
        [ 'strict false', timer($bound, $no) ],
        [ 'strict beside another', timer($bound, $yes), $other ]) {
    my ($name, @tools) = @$case;
    is minutes(whole(chat($d, %quick, %timer, tools => \@tools))), '18',
        "$name: what the model says";
}
is whole(chat($d, %quick, %timer, tools => [ timer($bound, $yes) ],
    tool_choice => 'none'))->{status}, 200, 'tool_choice none';
is misses(), 0, 'case C26: and no grammar was made';

# --- schemas that bite --------------------------------------------------------
my @bite = (
    [ $bound, qr/^(?:10|-?\d)$/, '18' ],
    [ { enum => [ 5, 10, 25 ] }, qr/^(?:5|10|25)$/, '18' ],
    [ { type => 'string', enum => [ 'short', 'long' ] },
        qr/^"(?:short|long)"$/, '"18"' ],
    [ { type => [ 'string', 'null' ], pattern => '^[a-z]{1,5}$' },
        qr/^(?:null|"[a-z]{1,5}")$/, '"18"' ],
    [ { type => 'object', properties => { n => { const => 18 } },
        required => ['n'], additionalProperties => $no }, qr/^\{"n":18\}$/,
        undef ],
);
my $made = 0;
for my $b (@bite) {
    my ($schema, $fits, $free) = @$b;
    my $word = $json->encode($schema);
    is minutes(whole(chat($d, %quick, %timer, tools => [ timer($schema) ]))),
        $free, "free: $word" if defined $free;
    for my $how ([ 'greedy' ], [ hot => temperature => 1, seed => 4 ],
            [ thinking => reasoning_effort => 'low', max_tokens => 900 ]) {
        my ($name, %how) = @$how;
        my %ask = (%quick, %timer, %how, tools => [ timer($schema, $yes) ]);
        my $w = whole(chat($d, %ask));
        my $s = joined(chat($d, %ask, stream => $yes));
        my @calls = calls_of($w);
        like $w->{finish}, qr/^(?:tool_calls|stop|length)$/,
            "$name, strict: $word";
        is "$s->{bad}@{ $s->{finishes} }", $w->{finish},
            "$name: streamed, too";
        is $json->encode([ stream_calls($s) ]), $json->encode(\@calls),
            "$name: the same bytes";
        is $s->{text}, $w->{text} // '', "$name: the same content";
        ok length $w->{reasoning}, "$name: behind a free reasoning"
            if $name eq 'thinking';
        next if $w->{finish} ne 'tool_calls' && $name eq 'hot';
        like minutes($w), $fits, "$name: fits $word";
    }
    is misses(), ++$made, 'one grammar for all of them';
}

# --- where it does not bite ---------------------------------------------------
my $whole = timer({ type => 'integer' }, $yes);
is minutes(whole(chat($d, %quick, %timer, tools => [$whole]))), '18',
    'what fits anyway is what the model wants';
for my $effort ('none', 'low') {
    my %ask = (user('What is the capital of France?'), max_tokens => 900,
        reasoning_effort => $effort);
    my $free = whole(chat($d, %ask,
        tools => [ timer({ type => 'integer' }) ]));
    my $w = whole(chat($d, %ask, tools => [$whole]));
    is $w->{finish}, 'stop', "$effort: it need not call";
    is $w->{text}, $free->{text}, "$effort: the same answer";
    is_deeply [ $w->{reasoning}, calls_of($w) ], [ $free->{reasoning} ],
        "$effort: the same reasoning, no call";
}

like(Pen::Fcgi->request($d->{socket}, uri => '/v1/dashboard/live?follow=0')
    ->{body}, qr/"constrained":"tools"/, 'the live view says what binds it');

# A call that has come does not end the answer: another may follow.
my %again = (user('Set a timer for 18 minutes. Then set a timer for 25 minutes.'),
    %quick);
my $w = whole(chat($d, %again, tools => [$whole]));
is_deeply [ calls_of($w) ], [ calls_of(whole(chat($d, %again,
    tools => [ timer({ type => 'integer' }) ]))) ], 'as many calls as it likes';

# --- a choice of its own -------------------------------------------------------
my $before = misses();
for my $choice ('required', { type => 'function',
        function => { name => 'set_timer' } }, 'auto') {
    is minutes(whole(chat($d, %quick, %timer, tool_choice => $choice,
        tools => [ timer($bound, $yes) ]))), '10', 'tool_choice as well';
}
is misses(), $before + 2, 'those are other grammars';

# --- beside other requests -----------------------------------------------------
my @asks = map { my $schema = $_->[0]; map +{ %quick, user($_), temperature => 0,
        tools => [ timer($schema, $yes) ] },
    'Set a timer for 18 minutes.', 'I need a timer of 25 minutes.' }
    @bite[ 0 .. 2 ];
my @alone = map { my $w = whole(chat($d, %$_));
    $json->encode([ calls_of($w), $w->{text} ]) } @asks;
my $dir = File::Temp->newdir;
my @pids;
for my $i (0 .. $#asks) {
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        my $w = whole(chat($d, %{ $asks[$i] }));
        open my $f, '>', "$dir/$i" or die $!;
        print $f $json->encode([ calls_of($w), $w->{text} ]);
        close $f;
        require POSIX;
        POSIX::_exit(0);
    }
    push @pids, $pid;
}
waitpid $_, 0 for @pids;
for my $i (0 .. $#asks) {
    open my $f, '<', "$dir/$i" or die "$i: $!";
    is scalar <$f>, $alone[$i], "request $i: the same beside others";
}

# --- what is refused -----------------------------------------------------------
my $list = { type => 'array', items => { type => 'integer' },
    uniqueItems => $yes };
my $r = chat($d, %quick, %timer, tools => [ $whole,
    timer($list, $yes, 'set_timers') ]);
is $r->{status}, 400, 'strict, and a keyword that is not supported: 400';
is error($r)->{param}, 'tools[1].function.parameters', 'names the function';
like error($r)->{message}, qr{uniqueItems at #/properties/minutes},
    'the keyword and its path';
is whole(chat($d, %quick, %timer, tools => [ $whole,
    timer($list, $no, 'set_timers') ]))->{status}, 200, 'not strict: 200';
is $d->stop, 0, 'the daemon ends with 0';

# --- a server that binds nothing -------------------------------------------------
$d = Pen::Daemon->start(args => { threads => 1, 'structured-outputs' => 'off' });
is minutes(whole(chat($d, %quick, %timer, tools => [ timer($bound, $yes) ]))),
    '18', 'structured-outputs off: strict functions are not bound';
is misses(), 0, 'and nothing is compiled';
is $d->stop, 0, 'it ends with 0';
done_testing();
