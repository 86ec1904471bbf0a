# An agent's conversation of 30 requests: tools, calls, results, each request
# with all that was said before. What an earlier request of the conversation
# held, in token ids of its prompt and its answer, is not computed again:
#
#  - alone, with another conversation between the turns, and after the daemon
#    started again in the middle (from disk), at least 95 % of it is read
#  - never more than that, which is exact where nothing else happens
#  - every answer is the same, and some of them are compared with
#    `penstock run`, which keeps nothing
#
# The demo model writes the calls, so the conversation is recorded as it goes;
# prompts are those of `penstock render`, ids of answers those of the pieces
# that logprobs name (one id each: checked).
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempdir);
use JSON::PP ();
use List::Util qw(max sum);
use Pen::Daemon;

my $build = Pen::Daemon::build();
plan skip_all => 'no penstockd' unless -x "$build/penstockd";
my $dir = tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $json = JSON::PP->new->utf8->canonical; # tools: the same bytes each time
my $turns = $ENV{PENSTOCK_SANITIZER} ? 12 : 30;
my $most = 40; # tokens of an answer

sub tool {
    my ($name, $what, @arg) = @_;
    return { type => 'function', function => { name => $name,
        description => $what, parameters => { type => 'object',
            properties => { map { $_ => { type => 'string' } } @arg },
            required => \@arg } } };
}

my @tools = (tool('get_weather', 'Get the weather for a city', 'city'),
    tool('read_file', 'Read a file', 'path'),
    tool('search', 'Search the web', 'query'));
my @cities = qw(Paris Oslo Rome Berlin Madrid Vienna Lisbon Athens);

# What a conversation's user says, and what its tools find.
sub wish {
    my ($who, $n) = @_;
    my $c = $cities[ ($n + 3 * $who) % @cities ];
    return ("What is the weather in $c?", "Read the file note$n.txt.",
        "Search for $c museums.", "Thank you so much!")[ ($n + $who) % 4 ];
}
sub found { my $n = shift; return "$n degrees, " . (qw(sunny rainy windy))[ $n % 3 ] }

sub render {
    my $file = "$dir/request.json";
    open my $out, '>', $file or die "$file: $!";
    print $out $json->encode($_[0]);
    close $out;
    my $got = qx{$build/penstock render -m $Pen::Daemon::DEMO --json $file};
    return @{ $json->decode($got)->{ids} };
}

# The ids of pieces, as bytes: no two ids of this vocabulary look the same.
my %id;
sub piece_ids {
    my @bytes = map { pack 'C*', @{ $_->{bytes} } } @_;
    for (grep { !exists $id{$_} } @bytes) {
        open my $in, '-|', "$build/penstock", 'tokenize', '-m',
            $Pen::Daemon::DEMO, '--markup', '--json', '--', $_ or die;
        local $/;
        my $ids = $json->decode(<$in>)->{ids};
        $id{$_} = @$ids == 1 ? $ids->[0] : die "a piece of " . @$ids . " ids";
    }
    return @id{@bytes};
}

sub common {
    my ($x, $y) = @_;
    my $n = 0;
    $n++ while $n < @$x && $n < @$y && $x->[$n] == $y->[$n];
    return $n;
}

sub talk { return { who => $_[0], said => [], held => [], turns => [] } }

# One request of a conversation, and what the agent does with the answer.
sub turn {
    my ($d, $t) = @_;
    my $n = @{ $t->{turns} };
    push @{ $t->{said} }, { role => 'user', content => wish($t->{who}, $n) }
        unless @{ $t->{said} } && $t->{said}[-1]{role} eq 'tool';
    my $ask = { messages => [ @{ $t->{said} } ], tools => \@tools,
        temperature => 0, max_tokens => $most, reasoning_effort => 'none',
        logprobs => JSON::PP::true };
    my $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/chat/completions',
        body => $json->encode($ask), timeout => 120);
    die "turn $n: $r->{status} $r->{body}" if $r->{status} != 200;
    my $j = $json->decode($r->{body});
    my $c = $j->{choices}[0];
    my @prompt = render($ask);
    my @answer = piece_ids(@{ $c->{logprobs}{content} });
    my $held = max(0, map { common(\@prompt, $_) } @{ $t->{held} });
    push @{ $t->{held} }, [ @prompt, @answer ];
    push @{ $t->{turns} }, { prompt => \@prompt, answer => \@answer,
        held => $held, told => $j->{usage}{prompt_tokens},
        cached => $j->{usage}{prompt_tokens_details}{cached_tokens},
        from => $j->{timings}{cache_source}, message => $c->{message},
        finish => $c->{finish_reason} };
    my $m = { %{ $c->{message} } };
    delete $m->{refusal};
    push @{ $t->{said} }, $m, map { { role => 'tool', tool_call_id => $_->{id},
        content => found($n) } } @{ $m->{tool_calls} // [] };
    return;
}

# The words of all turns; ids of calls are new each time.
sub words {
    my $t = shift;
    return join "\n", map {
        my $m = $_->{message};
        join '|', $m->{content} // '', map { @{ $_->{function} }{qw(name
            arguments)} } @{ $m->{tool_calls} // [] };
    } @{ $t->{turns} };
}

sub check {
    my ($name, @turns) = @_;
    my $held = sum map { $_->{held} } @turns;
    my $cached = sum map { $_->{cached} } @turns;
    note "$name: $cached of $held tokens, ", join ' ',
        map { "$_->{cached}/$_->{held}" } @turns;
    cmp_ok $cached, '>=', 0.95 * $held, "$name: $cached of $held tokens read";
    is scalar(grep { $_->{told} != @{ $_->{prompt} } } @turns), 0,
        "$name: prompts as rendered";
    return;
}

sub start {
    return Pen::Daemon->start(args => { threads => 1, @_ });
}

# --- alone ------------------------------------------------------------------
my $d = start();
my $alone = talk(0);
turn($d, $alone) for 1 .. $turns;
check('alone', @{ $alone->{turns} });
is_deeply [ map { $_->{cached} } @{ $alone->{turns} } ],
    [ map { $_->{held} } @{ $alone->{turns} } ],
    'alone: exactly what was held, in every turn';
my $calls = grep { $_->{finish} eq 'tool_calls' } @{ $alone->{turns} };
cmp_ok $calls, '>=', $turns / 5, "$calls of $turns answers are calls";
is $d->stop, 0, 'the daemon ends well';

# --- without any cache ------------------------------------------------------
for my $i (1, int $turns / 2, $turns - 1) {
    my $t = $alone->{turns}[$i];
    my $got = $json->decode(scalar qx{$build/penstock run -m $Pen::Daemon::DEMO --json -t 1 -n $most --ids @{[ join ',', @{ $t->{prompt} } ]}});
    my @ids = @{ $got->{ids} };
    pop @ids if @ids > @{ $t->{answer} }; # the end of the turn is no piece
    is "@ids", "@{ $t->{answer} }", "turn $i: the answer without a cache";
}

# --- two conversations, and a new start ---------------------------------------
my $spool = "$dir/spool";
my @args = (spool => $spool, 'spool-max' => '256m');
$d = start(@args);
my @t = (talk(0), talk(1));
for my $i (1 .. $turns) {
    if ($i == int($turns / 2) + 1) {
        is $d->stop, 0, 'the daemon ends well';
        $d->run->wait_ready(60);
    }
    turn($d, $_) for @t;
}
is $d->stop, 0, 'the daemon ends well';
my $half = int($turns / 2);
for my $i (0, 1) {
    my @all = @{ $t[$i]{turns} };
    check("conversation $i", @all);
    is scalar(grep { $_->{cached} > $_->{held} } @all[ 1 .. $#all ]), 0,
        'never more than was held' if $i == 0;
    # full pages are on disk, the last one in part is not
    my $pages = 64 * int($all[$half]{held} / 64);
    cmp_ok $all[$half]{cached}, '>=', $pages,
        "conversation $i, its first turn after the start: $pages and more";
    is $all[$half]{from}, 'disk', 'read from disk';
    is $all[-1]{from}, 'prefix', 'later from memory';
}
is words($t[0]), words($alone), 'the same words as alone';
isnt words($t[1]), words($t[0]), 'two conversations';
done_testing;
