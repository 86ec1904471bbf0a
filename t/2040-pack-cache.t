#!/usr/bin/perl
# Packed weights: kept in a file that later starts map, the same text with it,
# without it and on the model file as it is, and in memory once. (What damage
# is noticed is t/unit/engine_packs.)
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use JSON::PP;
use lib 't/lib';
use Pen::Daemon;

my $build = $ENV{BUILD} // 'build';
my $bin   = "$build/penstock";
my $node  = -x 't/js/node_modules/.bin/node' ? 't/js/node_modules/.bin/node'
    : (grep { -x } map { "$_/node" } split /:/, $ENV{PATH})[0];
plan skip_all => "$bin is not built" unless -x $bin;
plan skip_all => 'no node on this machine' unless $node;
$ENV{NODE} = $node;

my $dir = tempdir(CLEANUP => 1);
my $model = "$dir/m.gguf";
mkdir "$dir/$_" or die for qw(cache daemon);
# 71 MB of matrices: large enough to have a file by itself
is system(qw(contrib/mkmodel --layers 5 --width 1024 --heads 8 --kv-heads 2
    --head-dim 128 --ff 3072 --ctx 4096 --vocab synthetic:4000 --type q8_0 -o),
    $model), 0, 'a model';

sub answer {
    my @cmd = ($bin, 'run', '-m', $model, '--ids', '5,6,7,8,9',
        qw(-n 12 --top-logprobs 3 --ignore-eos --json), @_);
    open my $in, '-|', @cmd or die "$bin: $!\n";
    local $/;
    my $json = decode_json(<$in>);
    close $in or return 'failed';
    return JSON::PP->new->canonical->encode([@$json{qw(ids logprobs)}]);
}

sub cache { map { [$_, (stat)[1, 7, 9]] } glob "$dir/$_[0]*.pack*" }

my $want = answer('--repack', 'off');
isnt $want, 'failed', 'a text from the file as it is';
is_deeply [cache(''), cache('cache/')], [], 'leaves no file';
is answer('--pack-cache', 'off'), $want, 'the same from packed weights';
is_deeply [cache(''), cache('cache/')], [], 'in memory';
is answer('--pack-cache', "$dir/cache"), $want, 'and from a new cache file';
my @made = cache('cache/');
is scalar @made, 1, 'which is kept';
is answer('--pack-cache', "$dir/cache"), $want, 'and from that file';
is_deeply [cache('cache/')], \@made, 'which stays as it is';
for (1, 3) {
    is answer('--pack-cache', "$dir/cache", '-t', $_), $want, "with $_ threads";
}
is answer('--pack-cache', 'beside'), $want, 'from a file beside the model';
is scalar(my @beside = cache('')), 1, 'which is kept there';
open my $f, '+<:raw', $made[0][0] or die;
seek $f, 5_000_000, 0;
read $f, my $byte, 1;
seek $f, 5_000_000, 0;
print $f chr(1 ^ ord $byte);
close $f;
is answer('--pack-cache', "$dir/cache"), $want, 'a damaged one is made anew';
isnt +(cache('cache/'))[0][1], $made[0][1], 'as another file';

mkdir "$dir/full" or die;
like `bash -c 'ulimit -f 1000; $bin run -m $model --ids 1 -n 1 --pack-cache $dir/full --json' 2>&1`,
    qr/"finish_reason":"length"/, 'where no file fits, memory serves';
is_deeply [cache('full/')], [], 'and nothing is left';

like `$bin run -m $model --ids 1 --repack maybe 2>&1`, qr/--repack takes/,
    '--repack is on or off';

# The daemon: what it says, and what it takes.
my %weights; # bytes
sub start {
    my ($cache, $line) = @_;
    my $d = Pen::Daemon->start(model => $model,
        args => { 'pack-cache' => $cache, threads => 2 });
    my $h = $d->health->{bytes};
    like $d->log, $line, "it says where the weights are";
    $weights{$h->{weights}}++;
  SKIP: {
        skip 'sanitizers use memory of their own', 3
            if $ENV{PENSTOCK_SANITIZER};
        my $rss = $d->proc('VmRSS') * 1024;
        my $anon = $d->proc('RssAnon') * 1024;
        cmp_ok $rss, '<', $h->{weights} + 100 * 2**20,
            '  the weights once, and 100 MiB';
        cmp_ok $rss, '>', $h->{weights}, '  they are there';
        my $own = $anon - ($cache eq 'off' ? $h->{weights} : 0);
        cmp_ok $own, '<', 60 * 2**20, '  keys and values wait for their use';
    }
    cmp_ok $h->{kv}, '>', 60 * 2**20, '  which would be more';
    $d->stop;
}
start("$dir/daemon", qr/ packing to="[^"]*daemon.*packed_to="[^"]*daemon/s);
start("$dir/daemon", qr/ weights from="[^"]*daemon/);
start('off', qr/ packed_to="memory"/);
is scalar keys %weights, 1, 'the accounts are the same each time';
my ($bytes) = keys %weights;
cmp_ok abs($bytes / $made[0][2] - 1), '<', 0.01, 'and those of the cache file';
done_testing;
