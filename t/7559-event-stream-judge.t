# The judges of the two files that follow: the order of event streams, and the
# types that the official packages declare, by the TypeScript compiler.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Js;

Pen::Js::run('judge.mjs', site => { url => 'none', ca => '/dev/null' });
done_testing;
