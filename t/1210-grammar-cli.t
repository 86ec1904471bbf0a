# penstock grammar: exit statuses, what it says, and with a model the masks of
# its whole vocabulary along the text. What is accepted follows from the
# languages themselves (JSON: RFC 8259; JSON Schema: draft 2020-12).
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Grammar;

need_penstock();
my $bin = Pen::Grammar::bin();
# as text: the order of properties counts
my $person = '{"type":"object","properties":{"name":{"type":"string"},"age":{'
    . '"type":"integer","minimum":0}},"required":["name"],'
    . '"additionalProperties":false}';
my $tree = { '$ref' => '#/$defs/node', '$defs' => { node => {
    type => 'object', properties => { of => { type => 'array',
        items => { '$ref' => '#/$defs/node' } } }, required => ['of'] } } };

my @cases = (
    # kind, grammar, text, status, byte at which it stopped
    [ regex => 'a+b', 'aab', 0 ],
    [ regex => 'a+b', 'aa', 1, 2 ],
    [ regex => 'a+b', 'aabb', 1, 3 ],
    [ regex => 'a+b', '', 1, 0 ],
    [ regex => '^a*$', '', 0 ],
    [ regex => '[à-ö]{2}', "\xc3\xa9\xc3\xa8", 0 ],
    [ regex => '[à-ö]{2}', "\xc3\xa9\xc3", 1, 3 ],
    [ regex => '.', "\xf0\x9f\x98\x80", 0 ],
    [ regex => '.', "\xff", 1, 0 ],
    [ choice => 'red,green', 'green', 0 ],
    [ choice => 'red,green', 'gray', 1, 2 ],
    [ choice => 'red,green,greener', 'greener', 0 ],
    [ choice => 'red,green', 'red,green', 1, 3 ],
    [ json_object => 1, '{}', 0 ],
    [ json_object => 1, " {\n\t\"a\": [1, {\"b\": null}, -1.5e+3]}\n", 0 ],
    [ json_object => 1, '[]', 1, 0 ],
    [ json_object => 1, '{"a":01}', 1, 6 ],
    [ json_object => 1, '{"a":1', 1, 6 ],
    [ json_object => 1, "{\"a\":\"\n\"}", 1, 6 ],
    [ schema => $person, '{"name":"x"}', 0 ],
    [ schema => $person, '{ "name": "\u00e9", "age": 3 }', 0 ],
    [ schema => $person, '{"age":3}', 1, 2 ],
    [ schema => $person, '{"name":"x","b":1}', 1, 13 ],
    [ schema => $person, '{"name":"x","age":-1}', 1, 18 ],
    [ schema => $tree, '{"of":[{"of":[]},{"of":[{"of":[]}]}]}', 0 ],
    [ schema => $tree, '{"of":[{"of":[1]}]}', 1, 14 ],
    [ schema => 'true', '[1]', 0 ],
    [ schema => '{}', 'null', 0 ],
    [ schema => { const => 'a' }, '"a"', 0 ],
    [ schema => { const => 'a' }, '"b"', 1, 1 ],
    [ schema => { type => 'string', maxLength => 100_000 },
        '"' . 'x' x 100_000 . '"', 0 ],
    [ schema => { type => 'string', maxLength => 100_000 },
        '"' . 'x' x 100_001 . '"', 1, 100_001 ],
);
my @models = grep { -r } map { "contrib/demo-model/$_" }
    qw(penstock-demo-q8_0.gguf tiny-random-llama.gguf tiny-random-qwen2.gguf);
for my $c (@cases) {
    my ($kind, $grammar, $text, $status, $at) = @$c;
    my $name = substr "$kind " . (ref $grammar ? '' : $grammar) . " $text",
        0, 60;
    $name =~ s/[^ -~]/./g;
    my $r = grammar($kind, $grammar, accepts => $text);
    is $r->{status}, $status, $name or diag $r->{err};
    is $r->{err}, '', 'nothing on standard error';
    my ($said) = $r->{out} =~ / (\d+)\b/;
    is $said, $at, 'where it stopped';
    like $r->{out}, $status ? qr/^not accepted: [^\n]*\n\z/ : qr/^accepted\n\z/,
        'one line';
    for my $model (@models) {
        is grammar($kind, $grammar, accepts => $text,
            options => [ '-m', $model ])->{status}, $status,
            'the masks say the same: ' . $model =~ s{.*/}{}r;
    }
}

my $r = grammar(regex => 'a+', accepts => 'aa', options => ['--json']);
is_deeply [ map { ref \$_ eq 'SCALAR' ? $_ : "$_" } @{ $r->{json} }
    {qw(accepted at)} ], [ 1, 2 ], '--json';
cmp_ok $r->{json}{$_}, '>', 0, "--json: $_"
    for qw(rules states bytes steps);

# --- refused ------------------------------------------------------------------
my @refused = (
    [ regex => '(a', qr/\b2\b|\(/ ], [ regex => 'a{3,2}', qr/less|count/ ],
    [ regex => 'a*?', qr/lazy/i ], [ regex => '(?=a)', qr/look/i ],
    [ regex => '\q', qr/./ ], [ regex => '[a', qr/./ ],
    [ regex => "\xff", qr/UTF-8/ ], [ choice => 'a,,b', qr/empty/ ],
    [ schema => '{"type":"strin"}', qr/type at #/ ],
    [ schema => '{"uniqueItems":true}', qr/uniqueItems at #/ ],
    [ schema => '{"properties":{"a":{"not":{"type":"null"}}}}',
        qr{not at \#/properties/a} ],
    [ schema => '{"$ref":"#/$defs/none"}', qr{#/\$defs/none} ],
    [ schema => '[]', qr/object/ ], [ schema => '{', qr/./ ],
    [ schema => '{"allOf":[{"const":1},{"const":2}]}', qr/./ ],
    # the keyword that the schema has, not one like it
    [ schema => '{"const":"' . 'x' x 300_000 . '"}', qr/ const at #:/ ],
    [ schema => '{"enum":["' . 'x' x 300_000 . '"]}', qr/ enum at #:/ ],
    [ schema => '{"properties":{"a":{"oneOf":[' . join(',', map {
        "{\"type\":\"object\",\"properties\":{\"k\":{\"const\":$_}},"
        . '"required":["k"]}' } 1 .. 300) . ']}}}', qr{ oneOf at #/properties/a} ],
    [ schema => '{"$ref":"#/$defs/a0","$defs":{' . join(',', map {
        "\"a$_\":{\"\$ref\":\"#/\$defs/a" . ($_ + 1) . '"}' } 0 .. 299)
        . ',"a300":{}}}', qr{ \$ref at #/\$defs/a\d+: references} ],
);
for my $c (@refused) {
    my ($kind, $grammar, $why) = @$c;
    $r = grammar($kind, $grammar, accepts => 'x');
    is $r->{status}, 3, substr "refused: $kind $grammar" =~ s/[^ -~]/./gr, 0, 99;
    like $r->{err}, qr/^penstock grammar: [^\n]+\n\z/, 'with one line';
    like $r->{err}, $why, 'that names the reason';
    is $r->{out}, '', 'and nothing else';
}
$r = grammar(regex => '(a', accepts => 'x', options => ['--json']);
is "$r->{status} $r->{json}{refused}", '3 invalid', 'refused, --json';

# --- usage --------------------------------------------------------------------
for my $args ('', '--accepts x', '--regex a', '--regex a --choice b --accepts x',
    '--regex a --accepts x y', '--nothing', '--schema - --accepts -',
    '--schema /nonexistent --accepts x', '--regex a -m /nonexistent --accepts x',
    '--regex a -m README.md --accepts x') {
    my $said = qx($bin grammar $args 2>&1 </dev/null);
    is $? >> 8, 2, "grammar $args: status 2";
    like $said, qr/^(?:penstock )?grammar: /m, 'with a reason' if $args;
}
is scalar(qx($bin grammar --choice a,b --accepts b)), "accepted\n",
    'TEXT in the arguments';
like scalar(qx($bin grammar --help)), qr/--json-object.*Exit status/s, '--help';
done_testing;
