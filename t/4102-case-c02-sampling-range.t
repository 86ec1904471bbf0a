# Case C02: sampling values far out of range are a 400 naming a field.
use strict;
use warnings;
use lib "t/lib";
use Test::More;
use Pen::Body;

plan skip_all => "t/unit/api_body_error is not built" unless tool();

my %field = (
    temperature => [qw(999999 -1 2.1 1e400 "1" true [])],
    top_p => [qw(-1 0 1.1 1e400 "1")],
    top_k => [qw(-5 1.5 1e400 99999999999999999999)],
    min_p => [qw(-0.1 1.5)],
    repetition_penalty => [qw(0 -1 1e400)],
    presence_penalty => [qw(3 -3)],
    logit_bias => ['{"99999999999":5}', '{"-1":1}', '{"1":101}', '7'],
);
named(chat('"temperature":999999,"top_p":-1,"repetition_penalty":0'),
    'temperature', 'all three');
for my $f (sort keys %field) {
    named(chat(qq("$f":$_)), $f, "$f $_") for @{ $field{$f} };
}
named('{"prompt":"x","temperature":3}', 'temperature', 'completions',
    'completions');
done_testing();
