# docs/architecture.md names every file of src/chat, and no other.
use strict;
use warnings;
use Test::More;

open my $in, '<', 'docs/architecture.md' or die "docs/architecture.md: $!";
my $text = join '', <$in>;
my ($map) = $text =~ /^## `src\/chat`, file by file\n(.*?)^## /ms;
my @named = map { /`([^`]+)`/g } $map =~ /^\| (`.*?) \|/mg;
my %files = map { m{([^/]+)\.[ch]\z} ? ($1 => 1) : () } glob 'src/chat/*';

# A name ends in * for several files, or in .h where there is no .c.
my %known;
for my $name (@named) {
    my ($stem) = $name =~ /\A(\w+)/;
    my @of = grep { $name =~ /\*\z/ ? /\A$stem/ : $_ eq $stem } keys %files;
    ok @of, "$name is there";
    $known{$_} = 1 for @of;
}
is join(' ', grep { !$known{$_} } sort keys %files), '',
    'every file has its line';
done_testing;
