# What a machine can see of the house style.
use strict;
use warnings;
use Test::More;

my $out = `contrib/check-style . 2>&1`;
is $out, '', 'contrib/check-style has nothing to say';
done_testing;
