# C43: the write-ahead log grows while a forgotten reader holds it, and comes
# back to its limit within a minute after the reader left.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);
use lib 't/lib';
use Pen::Shell;

my $tool  = ($ENV{BUILD} // 'build') . '/t/unit/ledger_tool';
my $rows  = $ENV{PENSTOCK_WAL_ROWS} // 70_000;
my $limit = 16 << 20;
plan skip_all => "$tool is not built" unless -x $tool;
plan skip_all => 'the sqlite3 shell is not installed'
    unless Pen::Shell::found('sqlite3');

my $dir = tempdir(CLEANUP => 1);
my $db  = "$dir/p.db";
my $w   = Pen::Shell->start($tool, $db);
is $w->hear, 'ready', 'the writer runs';

my $reader = Pen::Shell->start('sqlite3', $db);
is $reader->ask("BEGIN; SELECT 'rows', count(*) FROM request;"), 'rows|0',
    'a reader keeps its transaction open';

like $w->ask("write $rows"), qr/^posted $rows /, "$rows rows are posted";
like $w->ask('wait'), qr/^committed \d+$/, 'and committed';
cmp_ok -s "$db-wal", '>', $limit, 'the log is over its limit';
is $reader->ask('SELECT count(*) FROM request;'), '0', 'the reader saw none';

$reader->finish;
my ($size, $wal);
for (1 .. 600) {
    $size = -s "$db-wal" // 0;
    ($wal) = $w->ask('state') =~ /wal (\d+)/;
    last if $size <= $limit && $wal <= $limit;
    select undef, undef, undef, 0.1;
}
cmp_ok $size, '<=', $limit, 'within a minute the log is at its limit';
cmp_ok $wal, '<=', $limit, 'and the state says so';
is $w->finish, 0, 'the writer ends';
is qx(sqlite3 '$db' 'SELECT count(*) FROM request'), "$rows\n",
    'every row is there';
done_testing;
