# C44: another process holds the database locked for three seconds. Posts are
# taken at once, nobody sees an error, and afterwards every row is there.
use strict;
use warnings;
use Test::More;
use File::Temp qw(tempdir);
use Time::HiRes qw(time sleep);
use lib 't/lib';
use Pen::Shell;

my $tool = ($ENV{BUILD} // 'build') . '/t/unit/ledger_tool';
plan skip_all => "$tool is not built" unless -x $tool;
plan skip_all => 'the sqlite3 shell is not installed'
    unless Pen::Shell::found('sqlite3');

my $dir = tempdir(CLEANUP => 1);
my $db  = "$dir/p.db";
open STDERR, '>', "$dir/log" or die $!;    # the tool's, to be read below
my $w = Pen::Shell->start($tool, $db);
is $w->hear, 'ready', 'the writer runs';

my $locker = Pen::Shell->start('sqlite3', $db);
is $locker->ask("BEGIN IMMEDIATE;\n.print locked"), 'locked',
    'another process locks';
my $start = time;

my ($ms) = $w->ask('write 64') =~ /^posted 64 (\d+)$/;
ok defined $ms, '64 requests are posted';
cmp_ok $ms, '<', 1000, 'while it is locked';
like $w->ask('state'), qr/^queued 128 /, 'they wait in memory';

my $second = Pen::Shell->start($tool, $db);
sleep 3 - (time - $start) if time - $start < 3;
like $w->ask('state'), qr/failures [1-9]/, 'the writer tried meanwhile';
$locker->say('COMMIT;');
is $locker->finish, 0, 'after three seconds the lock is gone';

like $w->ask('wait'), qr/^committed \d+$/, 'everything is committed';
is $second->hear, 'ready', 'a process that started meanwhile runs too';
is $second->finish, 0, 'and ends';
is $w->finish, 0, 'the writer ends';
is qx(sqlite3 '$db' "SELECT count(*) FROM request WHERE state = 'done'"),
    "64\n", 'exactly 64 rows, all done';
open my $log, '<', "$dir/log" or die $!;
my @lines = grep { /db_retry/ } <$log>;
cmp_ok scalar @lines, '<=', 2, 'at most a line a minute and process about it';
done_testing;
