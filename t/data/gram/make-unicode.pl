#!/usr/bin/perl
# Write t/data/gram/unicode.tsv: what Perl says of every code point, summed.
#
#   perl t/data/gram/make-unicode.pl > t/data/gram/unicode.tsv
#
# class NAME COUNT SUM: how many code points \p{NAME} matches, surrogates left
# out, and their sum. fold COUNT SUM: ordered pairs (a, b) of characters that
# match one another without case, and the sum of a * 31 + b modulo 2^32. Perl
# folds fully: the three pairs that only their full foldings join are left out.
use strict;
use warnings;
use feature 'unicode_strings';
no warnings qw(surrogate nonchar non_unicode);
use Unicode::UCD;

my $want = '14.0.0';
die "this Perl has Unicode " . Unicode::UCD::UnicodeVersion() . "\n"
    unless Unicode::UCD::UnicodeVersion() eq $want;

my @names = qw(L LC Lu Ll Lt Lm Lo M Mn Mc Me N Nd Nl No P Pc Pd Ps Pe Pi Pf Po
    S Sm Sc Sk So Z Zs Zl Zp C Cc Cf Cs Co Cn Letter Cased_Letter
    Uppercase_Letter Lowercase_Letter Titlecase_Letter Modifier_Letter
    Other_Letter Mark Nonspacing_Mark Spacing_Mark Enclosing_Mark Number
    Decimal_Number Letter_Number Other_Number Punctuation
    Connector_Punctuation Dash_Punctuation Open_Punctuation Close_Punctuation
    Initial_Punctuation Final_Punctuation Other_Punctuation Symbol Math_Symbol
    Currency_Symbol Modifier_Symbol Other_Symbol Separator Space_Separator
    Line_Separator Paragraph_Separator Other Control Format Surrogate
    Private_Use Unassigned gc=Lu General_Category=Letter Any ASCII Assigned
    White_Space);
my @points = (0 .. 0xd7ff, 0xe000 .. 0x10ffff);

print "# Made by t/data/gram/make-unicode.pl with Perl $], Unicode $want.\n";
for my $name (@names) {
    my $re = qr/^\p{$name}$/s;
    my ($n, $sum) = (0, 0);
    for (@points) {
        next unless chr($_) =~ $re || ($_ == 10 && "\n" =~ /^\p{$name}\z/s);
        $n++;
        $sum += $_;
    }
    print "class\t$name\t$n\t$sum\n";
}

my %apart = map { $_ => 1 } (0xfb05, 0xfb06, 0x1fd3, 0x390, 0x1fe3, 0x3b0);
my %same;
for (@points) {
    next if $apart{$_};
    my $c = chr;
    my $f = CORE::fc($c);
    push @{$same{$f}}, $_ if $f ne $c || lc $c ne $c || uc $c ne $c;
}
my ($n, $sum) = (0, 0);
for my $ring (values %same) {
    for my $a (@$ring) {
        for my $b (@$ring) {
            next if $a == $b;
            $n++;
            $sum = ($sum + $a * 31 + $b) % 2**32;
        }
    }
}
print "fold\t$n\t$sum\n";
