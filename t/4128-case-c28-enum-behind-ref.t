# Case C28: an enum or const behind a $ref restricts, without a type beside it;
# a missing target is named, and so is a reference to itself.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;

need_demo();
my $json = JSON::PP->new->canonical;
my $d = Pen::Daemon->start(args => { thinking => 'off' });

sub schema_with {
    my ($c) = @_;
    return { type => 'object', properties => { c => { '$ref' => '#/$defs/C' } },
        required => ['c'], additionalProperties => $no,
        '$defs' => { defined $c ? (C => $c) : () } };
}

sub asked {
    my ($schema, %more) = @_;
    # five places of white space, 100 characters each
    return chat($d, max_tokens => 600, %more,
        messages => [ { role => 'user', content => 'answer blue' } ],
        response_format => { type => 'json_schema',
            json_schema => { name => 'colour', schema => $schema } });
}

for my $case ([ { enum => [qw(red green)] }, qr/^(?:red|green)\z/ ],
    [ { const => 'red' }, qr/^red\z/ ],
    [ { '$ref' => '#/$defs/D' }, qr/^(?:red|green)\z/ ]) {
    my ($c, $right) = @$case;
    my $schema = schema_with($c);
    $schema->{'$defs'}{D} = { enum => [qw(red green)] };
    my $name = $json->encode($c);
    for my $more ([], map { [ temperature => 2, seed => $_ ] }
        1 .. ($ENV{PENSTOCK_SANITIZER} ? 5 : 20)) {
        my $w = whole(asked($schema, @$more));
        my $v = eval { $json->decode($w->{text}) } // {};
        is join(',', keys %$v), 'c', "$name @$more: c and nothing else"
            or diag $json->encode($w);
        like $v->{c}, $right, 'of the set';
        is $w->{finish}, 'stop', 'a whole answer';
    }
    my $s = joined(asked($schema, stream => $yes));
    is $s->{bad}, '', 'streamed';
    like $json->decode($s->{text})->{c}, $right, 'the same set';
}

for my $case ([ undef, qr{\#/\$defs/C}, 'a missing target' ],
    [ { '$ref' => '#/$defs/C' }, qr/recurs/i, 'a $ref to itself' ],
    [ { '$ref' => '#/$defs/D' }, qr/recurs/i, 'two that refer to each other' ],
    [ { '$ref' => 'http://example.com/x' }, qr/\$ref at \#/, 'elsewhere' ]) {
    my ($c, $why, $name) = @$case;
    my $schema = schema_with($c);
    $schema->{'$defs'}{D} = { '$ref' => '#/$defs/C' } if $c;
    my $r = asked($schema);
    is "$r->{status} " . (error($r)->{param} // ''),
        '400 response_format.json_schema.schema', $name;
    like error($r)->{message}, $why, 'the message says so';
}
is $d->stop, 0, 'ends well';
done_testing;
