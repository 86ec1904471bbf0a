# Case C32, request checking: how many choices.
use strict;
use warnings;
use lib "t/lib";
use Test::More;
use Pen::Body;

plan skip_all => "t/unit/api_body_error is not built" unless tool();

named(chat('"n":17'), 'n', 'n 17');
named(chat('"n":2,"stream":true'), 'n', 'streamed');
is((check(chat('"n":3,"temperature":1,"seed":7')))[0], 200, 'three');
done_testing();
