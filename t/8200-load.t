# Many clients at once on a small engine: long and short prompts, shared heads
# and none, streamed or not, every fifth client leaving at a random moment.
# Who stays gets the bytes that it would get alone; the ledger has one row for
# each; nothing is left running. (9400 is the long form.)
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempdir);
use Pen::Daemon;
use Pen::Load;

my $load = Pen::Load->new;
my $seed = $ENV{SEED} // 8200;
my $total = $ENV{PENSTOCK_SANITIZER} ? 60 : 160; # of each variant
my $spool = tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1) . '/spool';
my %variant = (
    'room for all' => { width => 24, keys => 64,
        args => { parallel => 8, 'max-queue' => 64 } },
    # pages come and go, to memory and to disk; the queue is soon full
    'little memory, a disk, a short queue' => { width => 14, keys => 5,
        args => { parallel => 4, 'max-queue' => 8, 'kv-memory' => '2m',
            spool => $spool, 'spool-max' => '8m' } },
);

for my $name (sort keys %variant) {
    my $v = $variant{$name};
    my $d = Pen::Daemon->start(model => $load->{model},
        args => { context => 2048, %{ $v->{args} } });
    $load->clear;
    note $name;
    $load->keys($d, $v->{keys});
    my @r = @{ $load->{text} } ? $load->again($d) : $load->alone($d);
    push @r, $load->run($d, total => $total, leave => 20, seed => $seed,
        width => $v->{width});
    is scalar @r, $total + $load->distinct, "$name: all requests ended"
        or diag "SEED=$seed";
    my @rows = $load->check($d, @r);
    my %how;
    $how{ $_->{finish_reason} // 'null' }++ for @rows;
    ok $how{abandoned} && $how{stop} && $how{length}, 'outcomes of every kind'
        or diag explain \%how;
    note join ', ', map { "$how{$_} $_" } sort keys %how;
    is $d->stop, 0, 'the daemon ends well';
    next unless $v->{args}{spool};
    $d->run->wait_ready(60);
    my $n = @rows;
    @rows = $load->check($d, $load->again($d));
    my @disk = grep { ($_->{cache_source} // '') eq 'disk' }
        @rows[ $n .. $#rows ];
    note scalar(@disk), ' read from disk';
    ok @disk, 'after a restart some of it comes from disk';
    is $d->stop, 0, 'the daemon ends well again';
}
done_testing;
