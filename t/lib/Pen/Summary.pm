# Pen::Summary - the formatter that contrib/check.sh gives to prove.
#
# Prints what prove prints, then one last line "N passed, N failed, N skipped".
# With CI=true a skip counts as a failure unless t/allowed-skips lists its
# reason (one per line, # comments); that also goes for a whole file's skip.
package Pen::Summary;
use strict;
use warnings;
use parent 'TAP::Formatter::File';

sub allowed_skips {
    open my $in, '<', 't/allowed-skips' or return;
    return grep { length && !/^#/ } map { s/\s+$//r } <$in>;
}

sub open_test {
    my ($self, $test, $parser) = @_;
    $parser->callback(test => sub {
        my $result = shift;
        push @{ $self->{pen_skips} }, [ $test, $result->explanation // '' ]
            if $result->has_skip;
    });
    return $self->SUPER::open_test($test, $parser);
}

sub summary {
    my ($self, $aggregate, $interrupted) = @_;
    $self->SUPER::summary($aggregate, $interrupted);

    my @skips = @{ $self->{pen_skips} // [] };
    for my $parser ($aggregate->parsers) {
        push @skips, [ '', $parser->skip_all ] if $parser->skip_all;
    }
    my %allowed = map { $_ => 1 } allowed_skips();
    my @bad = ($ENV{CI} // '') eq 'true' ? grep { !$allowed{ $_->[1] } } @skips : ();
    my $passed = $aggregate->passed;
    my $failed = $aggregate->failed; # points, both
    # A file that died after its last good point has no failed point to count.
    for my $parser ($aggregate->parsers) {
        $failed++ if $parser->has_problems && !$parser->failed;
    }
    $failed++ if $interrupted;
    my %seen;
    print "skipped: $_->[0] $_->[1]\n" for grep { !$seen{"@$_"}++ } @skips;
    print "not allowed to skip here: $_->[0] $_->[1]\n" for @bad;
    printf "%d passed, %d failed, %d skipped\n", $passed,
        $failed + @bad, scalar @skips;
}

1;
