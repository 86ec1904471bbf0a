# Case C26: bounds of any size in a tool or a schema are served and kept: the
# values of the report, one level deeper, too. With tool_choice auto the tools
# cost no grammar; what a grammar costs is bounded in counted steps and bytes.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Encode ();
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;
use Pen::Grammar;

need_demo();
need_penstock();
my $json = JSON::PP->new->utf8->canonical;
my $penstock = Pen::Grammar::bin();

sub id_of { # of one character
    my ($id) = qx($penstock tokenize -m $Pen::Daemon::DEMO '$_[0]')
        =~ /^(\d+)$/ or die "'$_[0]' is not one token";
    return $id;
}
my ($a, $comma, $close, $quote) = map { id_of($_) } 'a', ',', ']', '"';

# White space would only lengthen the way to a bound.
my %no_space;
for my $c ("\n", ' ', "\t", "\r", "\r\n", " \n", "\n ") {
    for my $n (1, 2, 3, 4, 8, 16) {
        my ($ids) = qx($penstock tokenize -m $Pen::Daemon::DEMO '${\ ($c x $n)}')
            =~ /^(\S+)/;
        $no_space{$_} = -100 for split /,/, $ids;
    }
}

sub object {
    my ($s) = @_;
    return { type => 'object', properties => { s => $s }, required => ['s'],
        additionalProperties => $no };
}
my @bounds;
for my $n (1999, 2000, 2001, 65_536) {
    my $s = { type => 'string', maxLength => $n };
    push @bounds, [ "maxLength $n", object($s) ],
        [ "maxLength $n, one level deeper", object(object($s)) ];
}
push @bounds, [ 'minItems 10, maxItems 1000', object({ type => 'array',
    items => { type => 'number' }, minItems => 10, maxItems => 1000 }) ],
    [ 'minLength 2000', object({ type => 'string', minLength => 2000 }) ];

sub tool {
    my ($schema) = @_;
    return (tools => [ { type => 'function', function => { name => 'f',
        parameters => $schema } } ]);
}
sub format_of {
    my ($schema) = @_;
    return (response_format => { type => 'json_schema', json_schema => {
        name => 'f', schema => $schema } });
}

my $d = Pen::Daemon->start(args => { thinking => 'off' });
my %ask = (messages => [ { role => 'user', content => '1+1' } ]);

# What was written, down to the innermost s.
sub value_of {
    my ($text) = @_;
    my $v = eval { $json->decode(Encode::encode('UTF-8', $text)) };
    $v = $v->{s} while ref $v eq 'HASH';
    return $v;
}
sub size_of { return ref $_[0] ? scalar @{ $_[0] } : length($_[0] // '') }

is whole(chat($d, %ask, max_tokens => 20, tool(object({ type => 'string' })),
    tool_choice => 'required'))->{status}, 200, 'a tool without bounds';
my $memory = $d->proc('VmHWM');
for my $case (@bounds) {
    my ($name, $schema) = @$case;
    for my $way ([ 'auto', tool($schema) ],
        [ 'auto, named', tool($schema), tool_choice => 'auto' ],
        [ 'required', tool($schema), tool_choice => 'required' ],
        [ 'response_format', format_of($schema) ]) {
        my ($how, %more) = @$way;
        my $r = chat($d, %ask, %more, max_tokens => 30);
        is $r->{status}, 200, "$name: $how" or diag $r->{body};
    }
    my $cost = grammar(schema => $schema, accepts => '',
        options => ['--json'])->{json};
    cmp_ok $cost->{steps}, '<', 200_000, 'steps of construction';
    cmp_ok $cost->{bytes}, '<', 1 << 20, 'bytes of the automaton';
}
SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    cmp_ok $d->proc('VmHWM') - $memory, '<', 64 * 1024, 'memory in KiB';
}

# A model that never wants to stop is stopped by the bound, exactly. (Small
# ones under sanitizers, where a token takes a hundred times as long.)
sub text_of { return { type => 'string', @_ } }
sub list_of { return { type => 'array', items => { type => 'number' }, @_ } }
my $long = $ENV{PENSTOCK_SANITIZER} ? 40 : 2000;
my $half = $long / 2;
for my $case ([ $long - 1, object(text_of(maxLength => $long - 1)) ],
    [ $long, object(object(text_of(maxLength => $long))) ],
    [ $half, object(list_of(minItems => 10, maxItems => $half)) ]) {
    my ($most, $schema) = @$case;
    my %bias = (logit_bias => { %no_space, $a => 100, $comma => 100,
        $close => 50 }); # a number has no end of its own
    my $w = whole(chat($d, %ask, %bias, max_tokens => 3900,
        format_of($schema)));
    is $w->{finish}, 'stop', 'comes to an end';
    is size_of(value_of($w->{text})), $most, "at its bound, $most";
}
my $w = whole(chat($d, %ask, logit_bias => { %no_space, $a => 100 },
    max_tokens => 2100, tool_choice => 'required',
    tool(object(text_of(maxLength => $long - 1)))));
my $call = $w->{choices}[0]{message}{tool_calls}[0]{function};
is size_of(value_of($call->{arguments} // '')), $long - 1, 'of a call, too';
is $w->{finish}, 'tool_calls', 'which is a call';

# The least is kept by one that wants to stop at once (a token may hold a few
# characters and the quote).
for my $case ([ 10, 0, list_of(minItems => 10, maxItems => 1000),
        $close => 100, $comma => 50 ],
    [ $long, 32, text_of(minLength => $long), $quote => 100 ]) {
    my ($least, $beyond, $schema, @bias) = @$case;
    $w = whole(chat($d, %ask, logit_bias => { %no_space, @bias },
        max_tokens => 3900, format_of(object($schema))));
    my $size = size_of(value_of($w->{text}));
    is $w->{finish}, 'stop', "at least $least";
    ok $size >= $least && $size <= $least + $beyond, "and not many more: $size";
}
is $d->stop, 0, 'ends well';
done_testing;
