# The public JSON Schema Test Suite, draft 2020-12: every instance of every
# schema that compiles is judged as the suite judges it; what is refused is
# refused by keyword and path; docs/structured-outputs.md has the share.
use strict;
use warnings;
use Test::More;

my $tool = ($ENV{BUILD} // 'build') . '/t/unit/gram_suite';
my $dir  = 't/data/json-schema-suite';
plan skip_all => "$tool is not built" unless -x $tool;

# Lines of the tool, by file: {schemas, accepted, instances, empty},
# {refused}{message}, {wrong}{"group\ttest"}.
sub suite {
    my ($sub) = @_;
    my %of;
    open my $in, '-|', $tool, sort glob "$dir/$sub*.json" or die "$tool: $!\n";
    while (my $line = <$in>) {
        chomp $line;
        my ($what, $file, $group, $test, $more) = split /\t/, $line;
        my $f = $of{$file} //= { map { $_ => 0 }
            qw(schemas accepted empty refused instances) };
        if ($what eq 'right' || $what eq 'wrong') {
            $f->{instances}++;
            $f->{wrong}{"$sub$file\t$group\t$test"} = $more
                if $what eq 'wrong';
        } else {
            $f->{schemas}++;
            $f->{$what}++;
            $f->{why}{$group} = $test // '' if $what ne 'accepted';
        }
    }
    close $in or die "$tool: status $?\n";
    return \%of;
}

my %except; # "file\tgroup\ttest" => reason
open my $in, '<', "$dir/exceptions.tsv" or die "exceptions.tsv: $!\n";
while (<$in>) {
    next if /^#/;
    chomp;
    my ($file, $group, $test, $reason) = split /\t/;
    ok $reason, "$file, $test: an exception with its reason";
    $except{"$file\t$group\t$test"} = $reason;
}
close $in;

my %part = map { $_ => suite($_) } ('', 'optional/', 'optional/format/');
my %stale = %except;
for my $sub (sort keys %part) {
    for my $file (sort keys %{ $part{$sub} }) {
        my $f = $part{$sub}{$file};
        my @wrong = grep { !delete $stale{$_} } sort keys %{ $f->{wrong} };
        is_deeply \@wrong, [], "$sub$file: $f->{accepted} of $f->{schemas}, "
            . "$f->{instances} instances";
        my @unnamed = grep { $_ !~ /^\S+ at #/ && $_ !~ /no text|allows no value/ }
            values %{ $f->{why} };
        is_deeply \@unnamed, [], "$sub$file: refusals name keyword and path";
    }
}
is_deeply [ sort keys %stale ], [], 'no exception is stale';

# The page and the measurement say the same.
my ($schemas, $accepted, $instances) = (0, 0, 0);
open my $doc, '<', 'docs/structured-outputs.md' or die $!;
my %row = map { /^\| `?([A-Za-z0-9_ -]+)`? \| (\d+) \| (\d+) \| (\d+) \|/
    ? ($1 => "$2 $3 $4") : () } <$doc>;
close $doc;
for my $file (sort keys %{ $part{''} }) {
    my $f = $part{''}{$file};
    my ($word) = $file =~ /(.*)\.json$/;
    my $good = $f->{accepted} + $f->{empty};
    $schemas   += $f->{schemas};
    $accepted  += $good;
    $instances += $f->{instances};
    is $row{$word}, "$f->{schemas} $good $f->{instances}",
        "docs/structured-outputs.md has the figures of $word";
}
is $row{'all required'}, "$schemas $accepted $instances", 'and the sums';
my $share = 100 * $accepted / $schemas;
diag sprintf '%d of %d schemas (%.1f %%), %d instances', $accepted, $schemas,
    $share, $instances;
cmp_ok $share, '>=', 60, 'most of the required schemas are accepted';
done_testing;
