# The long form of 8200: ten thousand requests of which every fifth leaves,
# with little memory for keys and values and a disk tier; memory does not grow
# between the 2,000th and the last. Then short requests beside prefills of 16k
# tokens: p99 of their first text is under two chunks of p99: one that is under
# way, and the one that holds them. (Chunks take longer towards the end of such
# a prompt, and so do those that wait for one.) Prints its figures.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempdir);
use List::Util qw(max min sum);
use POSIX ();
use Pen::Daemon;
use Pen::Load;
use Time::HiRes qw(sleep time);

my $seed = $ENV{SEED} // 9400;
my $spool = tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1) . '/spool';
my ($first, $then, $shorts) = @ENV{qw(LOAD_FIRST LOAD_THEN LOAD_SHORTS)};
$first //= 2_000;
$then //= 8_000;
$shorts //= 200;

sub at { my ($p, @v) = @_; return (sort { $a <=> $b } @v)[ int $p * $#v ] }

# --- ten thousand -----------------------------------------------------------
{
    my $load = Pen::Load->new;
    my $d = Pen::Daemon->start(model => $load->{model},
        args => { context => 2048, parallel => 8, 'max-queue' => 24,
            'kv-memory' => '8m', spool => $spool, 'spool-max' => '32m' });
    my @how = (width => 24, leave => 20);

    $load->keys($d, 64);
    $load->alone($d);
    my ($t, $cpu) = (time, $d->cpu);
    my @r = $load->run($d, @how, total => $first, seed => $seed);
    $load->check($d, @r);
    my $before = $d->proc('VmRSS');
    @r = $load->run($d, @how, total => $then, seed => $seed + 1);
    $load->check($d, @r);
    my $after = $d->proc('VmRSS');
    my ($all, $grown) = ($first + $then, $after - $before);
    my @served = grep { $_->{status} eq '200' && $_->{how} eq 'done' } @r;
    my ($prompt, $cached) = map { my $what = $_;
        sum 0, map { $_->{$what} } @served } qw(prompt cached);
    diag sprintf '%d requests in %.0f s (%.0f s of processor time); memory '
        . 'from %d to %d KiB; %d %% of the prompts cached',
        $all, time - $t, $d->cpu - $cpu, $before, $after,
        100 * $cached / max 1, $prompt;
    cmp_ok $grown, '<', 2048,
        "memory grew by $grown KiB from request $first to $all";
    my $disk = sum 0, map { (-s) // 0 } glob "$spool/*";
    ok $disk > 0 && $disk <= 32 << 20, "$disk bytes on disk, within the cap";
    cmp_ok $d->proc('Threads'), '<', 24, 'no thread was left behind';
    is $d->stop, 0, 'the daemon ends well';
}

# --- short ones beside long prefills ----------------------------------------
my $load = Pen::Load->new(context => 20_480,
    mkmodel => [qw(--layers 4 --width 256 --ff 768)]);
my $d = Pen::Daemon->start(model => $load->{model},
    args => { context => 20_480, parallel => 4, threads => 2 });
$load->keys($d, 2);
my ($short) = $load->fresh;

# A child that does this until it is ended.
sub forever {
    my $do = shift;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    $do->() for 1 .. 100_000;
    POSIX::_exit(0);
}

sub ask_long {
    my $n = ++(our $longs);
    my $body = Pen::Load::chat(max_tokens => 2, messages => [
        Pen::Load::user("$n " . Pen::Load::words('prefill', 16_800)) ])->{body};
    return Pen::Fcgi->request($d->{socket}, uri => '/v1/chat/completions',
        timeout => 600, body => JSON::PP->new->encode($body),
        params => { HTTP_AUTHORIZATION => "Bearer $load->{keys}[0]" });
}

# When each step ended and the rows of all so far, as /health says every few
# milliseconds.
sub watch {
    my $file = shift;
    open my $out, '>', $file or die "$file: $!";
    $out->autoflush(1);
    my $last = -1;
    return sub {
        my $now = time;
        my $h = $d->health->{steps};
        printf $out "%.6f %d %d\n", $now, @$h{qw(done rows)}
            if $h->{done} != $last;
        $last = $h->{done};
        sleep 0.004;
    };
}

my $alone = time;
my $r = ask_long();
$alone = time - $alone;
is $r->{status}, 200, 'a long prompt alone';
my $tokens = JSON::PP->new->decode($r->{body})->{usage}{prompt_tokens};
cmp_ok $tokens, '>', 16_000, "of $tokens tokens";
$main::longs = 100;
my $long = forever(\&ask_long);
my $watch = forever(watch("$load->{dir}/steps"));
sleep 0.05 until $d->health->{running};
my $from = time;
my @r = $load->run($d, asks => [$short], total => $shorts, width => 1);
my $until = time;
ok waitpid($long, POSIX::WNOHANG()) == 0, 'long prompts all the time';
for ($long, $watch) {
    kill 'TERM', $_;
    waitpid $_, 0;
}
my @ms; # of chunks: steps of half a slice (256 rows) and more
{
    open my $in, '<', "$load->{dir}/steps" or die $!;
    my @last = (0, 0, 0);
    while (<$in>) {
        my @now = split;
        push @ms, 1000 * ($now[0] - $last[0])
            if $now[1] == $last[1] + 1 && $now[2] >= $last[2] + 128
            && $last[0] > $from && $now[0] < $until;
        @last = @now;
    }
}
my @first = map { $_->{first_us} / 1000 }
    grep { $_->{status} eq '200' && $_->{first_us} } @r;
is scalar @first, $shorts, 'every short one was answered';
is scalar(grep { $_->{prompt} > 64 } @r), 0, 'of at most 64 tokens';
diag sprintf '%d tokens alone in %.1f s; %d chunks beside short ones: median '
    . '%.0f, p90 %.0f, p99 %.0f ms; first text of %d short ones: median %.0f, '
    . 'p90 %.0f, p99 %.0f, longest %.0f ms', $tokens, $alone, scalar @ms,
    (map { at($_, @ms) } 0.5, 0.9, 0.99), scalar @first,
    map { at($_, @first) } 0.5, 0.9, 0.99, 1;
cmp_ok at(0.99, @first), '<', 2 * at(0.99, @ms),
    'p99 of the first text is under two chunks';
ok $d->wait_load(0, 0, 60), 'nothing runs, nothing waits';
is $d->stop, 0, 'the daemon ends well';
done_testing;
