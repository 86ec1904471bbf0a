# Schemas by chance: what compiles allows the values that the oracle of the
# file allows, in some order of their members, and no other.
use strict;
use warnings;
use Test::More;

my $tool = ($ENV{BUILD} // 'build') . '/t/unit/gram_suite';
plan skip_all => "$tool is not built" unless -x $tool;

my (%n, @wrong, @unnamed);
open my $in, '-|', $tool, 't/data/gram/random.json' or die "$tool: $!\n";
while (<$in>) {
    chomp;
    my ($what, undef, $group, @more) = split /\t/;
    $n{$what}++;
    push @wrong, "$group, $more[0]: $more[1]" if $what eq 'wrong';
    push @unnamed, $more[0] if $what eq 'refused' && $more[0] !~ /^\S+ at #/;
}
close $in or die "$tool: status $?\n";
is_deeply \@wrong, [], "$n{right} values are judged as the oracle does";
is_deeply \@unnamed, [], 'what is refused is refused by keyword and path';
cmp_ok $n{accepted}, '>', 8 * ($n{refused} // 0), 'most are accepted';
done_testing;
