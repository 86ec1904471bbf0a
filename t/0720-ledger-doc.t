# docs/ledger.md: every query runs, every column and view is there.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);
use lib 't/lib';
use Pen::Shell;

plan skip_all => 'the sqlite3 shell is not installed'
    unless Pen::Shell::found('sqlite3');

my $dir = tempdir(CLEANUP => 1);
my $db  = "$dir/p.db";

sub shell {
    my ($input) = @_;
    open my $f, '>', "$dir/input" or die $!;
    print $f $input;
    close $f;
    my $out = qx(sqlite3 -bail '$db' <'$dir/input' 2>&1);
    return ($? >> 8, $out);
}

sub slurp {
    open my $f, '<', $_[0] or die "$_[0]: $!";
    local $/;
    return <$f>;
}

my ($rc, $out) = shell(join '', map { slurp($_) } sort glob 'sql/[0-9]*.sql');
is $rc, 0, 'a fresh database' or diag $out;

my $page = slurp('docs/ledger.md');
my @blocks = $page =~ /^```sql\n(.*?)^```$/msg;
is scalar @blocks, 11, 'eleven queries';
for my $block (@blocks) {
    my ($first) = $block =~ /^((?:SELECT|WITH).*)/m;
    ($rc, $out) = shell($block);
    ok $rc == 0 && $out !~ /error/i, $first or diag $out;
}

my ($section) = $page =~ /^## Columns of `request`\n(.*?)^## /ms;
my @told = $section =~ /^\| `(\w+)` \|/mg;
(undef, $out) = shell("SELECT name FROM pragma_table_xinfo('request');\n");
is_deeply \@told, [split /\n/, $out], 'every column is explained, in order';
($section) = $page =~ /^## Views\n(.*?)^## /ms;
(undef, $out) = shell(
    "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY rowid;\n");
is_deeply [$section =~ /^\| `(\w+)` \|/mg], [split /\n/, $out],
    'and every view';
done_testing;
