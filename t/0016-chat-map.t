# docs/architecture.md names every file of src/chat and src/api, and no other.
use strict;
use warnings;
use Test::More;

open my $in, '<', 'docs/architecture.md' or die "docs/architecture.md: $!";
my $text = join '', <$in>;
for my $folder (qw(src/chat src/api)) {
    my ($map) = $text =~ /^## `$folder`, file by file\n(.*?)^## /ms;
    my @named = map { /`([^`]+)`/g } $map =~ /^\| (`.*?) \|/mg;
    my %files = map { m{([^/]+)\.[ch]\z} ? ($1 => 1) : () } glob "$folder/*";

    # A name ends in * for several files, or in .h where there is no .c.
    my %known;
    for my $name (@named) {
        my ($stem) = $name =~ /\A(\w+)/;
        my @of = grep { $name =~ /\*\z/ ? /\A$stem/ : $_ eq $stem } keys %files;
        ok @of, "$folder: $name is there";
        $known{$_} = 1 for @of;
    }
    is join(' ', grep { !$known{$_} } sort keys %files), '',
        "every file of $folder has its line";
}
done_testing;
