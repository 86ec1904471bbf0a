package Pen::Hostile;
# Schemas and regexes that try to stall or exhaust whoever compiles them.
#
#   for my $h (Pen::Hostile::all()) { $h->{name}; $h->{schema} // $h->{regex} }
#
# `schema` is JSON text. `text`: one to walk. `status`: what penstock grammar
# must say about it (0 accepted, 1 not, 3 refused), where that is certain;
# `why`: what the reason must name.
use strict;
use warnings;
use JSON::PP ();

my $json = JSON::PP->new->utf8->canonical;

sub regex { my ($name, $r, %o) = @_; return { name => $name, regex => $r, %o } }
sub schema {
    my ($name, $s, %o) = @_;
    return { name => $name, schema => ref $s ? $json->encode($s) : $s, %o };
}

# d0 refers twice to d1, that twice to d2, ...: 2^n ways or conditions.
sub doubling {
    my ($word, $n, $last) = @_;
    my %defs = map { ("d$_", { $word => [ map { { '$ref' => $_ } }
        ('#/$defs/d' . ($_ + 1)) x 2 ] }) } 0 .. $n - 1;
    return { '$ref' => '#/$defs/d0', '$defs' => { %defs, "d$n" => $last } };
}

sub objects { # of equal beginnings; the order of properties counts
    my ($word, $n) = @_;
    return "{\"$word\":[" . join(',', map { '{"type":"object","properties":{'
        . '"kind":{"type":"string"},"body":{"type":"string"},'
        . "\"k$_\":{\"const\":$_}},\"required\":[\"kind\",\"body\",\"k$_\"]}"
    } 1 .. $n) . ']}';
}

sub nested {
    my ($n, $open, $inner, $close) = @_;
    return join '', $open x $n, $inner, $close x $n;
}

sub all {
    my $pairs = '{"type":"object","properties":{';
    return (
        # --- regexes
        regex('exponential determinization', '(a|b)*a(a|b){30}',
            status => 3),
        regex('nested counts', '((((a{1,100}){1,100}){1,100}){1,100}){1,100}',
            status => 3),
        regex('a count over the limit', 'a{1,1000000000}', status => 3,
            why => qr/1,?000/),
        regex('stars of stars', nested(300, '(', 'a', ')*') . 'b',
            text => 'a' x 300, status => 1),
        regex('deep groups', nested(30_000, '(', 'a',
            ')'), status => 3, why => qr/400/),
        regex('alternatives of equal beginnings', join('|', map {
            'a' x 200 . "[a-f]{$_}" } 1 .. 60), text => 'a' x 250, status => 0),
        regex('dots in a row', join('', map { ".{0,$_}x" } (900) x 12)),
        regex('classes of all of Unicode', '[\p{L}\P{L}]{900}(?i:[\p{L}\p{N}])'
            . '{900}'),
        regex('many alternatives of classes', join '|', map {
            "[\\p{Lu}$_]{1,40}[\\p{Ll}$_]{1,40}" } 1 .. 60),
        # --- schemas
        schema('huge bounds', { type => 'array', minItems => 1_000_000_000,
            maxItems => 2_000_000_000, items => { type => 'string',
                minLength => 1_000_000_000 } }, status => 1),
        schema('bounds beyond 64 bits', '{"maxLength":1e300,"minItems":'
            . '99999999999999999999999999}'),
        schema('a counted pattern', { type => 'string',
            pattern => '^(a|bc)*(ab|c){20}[a-c]{300}$', maxLength => 100_000,
            minLength => 99_999 }),
        schema('a megabyte of enum', { enum => [ map { "value number $_ of "
            . 'many' } 1 .. 40_000 ] }, text => '"value number 77 of many"'),
        schema('a megabyte in one const', { const => 'x' x 1_000_000 },
            text => '"' . 'x' x 1_000_000 . '"'),
        schema('deep nesting', nested(85, '{"type":"array","items":',
            '{"type":"null"}', '}'), text => '[' x 85),
        schema('deep allOf', nested(40, '{"allOf":[', '{"type":"null"}', ']}')),
        schema('a doubling chain of allOf', doubling(allOf => 40,
            { type => 'object', properties => { a => { type => 'null' } } })),
        schema('a doubling chain of anyOf', doubling(anyOf => 40,
            { type => 'string', pattern => 'a' })),
        schema('products of anyOf in allOf', { allOf => [ map { my $i = $_;
            { anyOf => [ map { { properties => { "p${i}_$_" => { type =>
                'string' } }, required => ["p${i}_$_"] } } 1 .. 10 ] } }
                1 .. 10 ] }),
        schema('products of patternProperties', { type => 'object',
            patternProperties => { map { ("(a|b)*$_(a|b){8}$_" =>
                { type => 'integer', minimum => ord $_ }) } 'a' .. 'f' } }),
        schema('too many patternProperties', { patternProperties => { map {
            ("^x$_", {}) } 1 .. 300 } }),
        schema('a huge multipleOf', { type => 'integer', multipleOf =>
            999_999_999_999_989 }),
        schema('many multiples', { allOf => [ map { { type => 'integer',
            multipleOf => $_ } } 9973, 9967, 9949, 9941, 9931 ] }),
        schema('thousands of prefixItems', { type => 'array', prefixItems => [
            map { { type => 'string', maxLength => $_ } } 1 .. 5_000 ] },
            text => '["a","b","' . 'c' x 3 . '"]'),
        schema('hundreds of objects with equal beginnings',
            objects(anyOf => 250), text => '{"kind":"a","body":"b","k7":7}',
            status => 0),
        schema('thousands of them', objects(anyOf => 3_000)),
        schema('oneOf of hundreds', objects(oneOf => 250)),
        schema('thousands of properties', $pairs . join(',', map {
            "\"p$_\":{\"type\":\"integer\"}" } 1 .. 8_000) . '}}',
            text => '{"p7":1,"p70":2}'),
        schema('a recursion that only doubles', { '$ref' => '#/$defs/a',
            '$defs' => { a => { type => 'array', prefixItems => [ { '$ref' =>
                '#/$defs/a' }, { '$ref' => '#/$defs/a' } ], minItems => 2,
                items => JSON::PP::false } } }, status => 3),
        schema('a recursion, and a text deeper than the stack', { type =>
            'array', items => { '$ref' => '#' } }, text => '[' x 100_000,
            status => 1),
        schema('references in a circle', { '$ref' => '#/$defs/a', '$defs' => {
            a => { allOf => [ { '$ref' => '#/$defs/b' } ] },
            b => { anyOf => [ { '$ref' => '#/$defs/a' } ] } } }, status => 3),
        schema('a pointer of a megabyte', { '$ref' => '#/' . 'a/' x 400_000 },
            status => 3),
        schema('an enum of deep values', { enum => [ map { my $v = $_;
            $v = [$v] for 1 .. 60; $v } 1 .. 500 ] }),
        schema('a range of 300 digits', '{"type":"integer","minimum":-'
            . '9' x 300 . ',"maximum":' . '9' x 300 . '}'),
        schema('a number range of many digits', '{"type":"number","minimum":'
            . '0.' . '1' x 300 . ',"maximum":0.' . '1' x 300 . '2}'),
    );
}

1;
