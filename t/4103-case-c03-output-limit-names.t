# Case C03, request checking: both names of the output limit are read.
use strict;
use warnings;
use lib "t/lib";
use Test::More;
use Pen::Body;

plan skip_all => "t/unit/api_body_error is not built" unless tool();

for my $f (qw(max_tokens max_completion_tokens)) {
    named(chat(qq("$f":$_)), $f, "$f $_") for 0, -1, '1.5', '"5"';
    is((check(chat(qq("$f":$_))))[0], 200, "$f $_") for 5, 'null';
}
named(chat('"max_tokens":5,"max_completion_tokens":6'),
    'max_completion_tokens', 'different values');
is((check(chat('"max_tokens":5,"max_completion_tokens":5')))[0], 200,
    'equal values');
done_testing();
