#!/usr/bin/perl
# penstock bench: what its options ask for is what its figures are of. (How
# fast is not tested: t/bench/peer.sh measures that.)
use strict;
use warnings;
use Test::More;
use JSON::PP;

my $bin = ($ENV{BUILD} // 'build') . '/penstock';
my $model = 'contrib/demo-model/tiny-random-llama.gguf';
plan skip_all => "$bin is not built" unless -x $bin;

sub bench {
    my $out = qx{$bin bench -m $model --json @_ 2>&1};
    return ($? >> 8, $out);
}
sub figures {
    my ($st, $out) = bench(@_);
    is $st, 0, "bench @_" or diag $out;
    return $st ? {} : decode_json($out);
}

my $f = figures(qw(-p 20 -n 5 -t 2 --parallel 3 --runs 2));
is_deeply [@$f{qw(prompt_tokens completion_tokens depth parallel threads
    runs)}], [20, 5, 20, 3, 2, 2], 'the figures say what they are of';
for (qw(prefill decode memory)) {
    my $median = $f->{$_ . ($_ eq 'memory' ? '_bytes' : '') . '_per_second'};
    ok $f->{"${_}_least"} > 0 && $f->{"${_}_least"} <= $median
        && $median <= $f->{"${_}_most"}, "$_ has a median between its ends";
}
ok $f->{weight_bytes_per_step} > 1000, 'weights are counted';
$f = figures(qw(-p 0 -n 3 -d 70 -t 1 --runs 1));
ok $f->{prefill_per_second} == 0 && $f->{decode_per_second} > 0
    && $f->{depth} == 70, 'answers alone, at a depth';
$f = figures(qw(-p 9 -n 0 -t 1 --runs 1));
ok $f->{prefill_per_second} > 0 && $f->{decode_per_second} == 0,
    'prompts alone';
for (['-p 0 -n 0', qr/nothing to measure/], ['--runs 0', qr/--runs takes/],
    ['-d 0', qr/--depth takes/], ['-p x', qr/-p takes/]) {
    my ($st, $out) = bench($_->[0]);
    ok $st == 2 && $out =~ $_->[1], "$_->[0] is refused";
}
done_testing;
