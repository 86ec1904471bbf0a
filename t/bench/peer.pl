# peer.pl, run by peer.sh: two programs take turns, a table in Markdown.
use strict;
use warnings;
use Getopt::Long;
use JSON::PP ();
use List::Util qw(min max);
use POSIX qw(strftime);

my $help = <<'END';
usage: t/bench/peer.sh [OPTION]... PATH_TO_LLAMA_BENCH MODEL...

Both programs run with the same file and threads, by turns: peer, penstock,
peer, penstock... Printed are medians with their ends, the ratio of the medians
(over 1: penstock is faster), the speed at which the machine's threads read
memory beside each run, and the share of it that reading the weights once a
step makes.

  --pairs N       rounds [5]
  --columns LIST  of decode, prefill512, prefill16, batch8 (eight sequences
                  that decode together; llama-batched-bench beside llama-bench)
                  and contended (decode beside a busy process) [all]
  --threads N     of both [2]
  --tokens N      generated in a run [32]
  --core N        where the busy process is pinned [0]
  --penstock FILE [build/penstock, or that in $BUILD]

The machine should have nothing else to do, and a model takes a few minutes.
Where it has, a session of higher priority keeps the ratios meaningful:
  setsid sh -c 'echo -15 >/proc/self/autogroup; exec t/bench/peer.sh ...'
END
my ($pairs, $threads, $tokens, $core) = (5, 2, 32, 0);
my $list = 'decode,prefill512,prefill16,batch8,contended';
my $ours = ($ENV{BUILD} // 'build') . '/penstock';
GetOptions('pairs=i' => \$pairs, 'columns=s' => \$list,
    'threads=i' => \$threads, 'tokens=i' => \$tokens, 'core=i' => \$core,
    'penstock=s' => \$ours, 'help' => \my $wanted) or die $help;
if ($wanted) { print $help; exit 0 }
my ($bench, @models) = @ARGV;
die $help if !@models || $pairs < 1 || $tokens < 2;
-x $_ or die "$_ is no program\n" for $bench, $ours;
(my $batched = $bench) =~ s{[^/]*$}{llama-batched-bench};

my %column = (
    decode => { what => "decode, $tokens tokens", steps => 1,
        peer => ['-p', 0, '-n', $tokens, '-r', 1],
        ours => ['-p', 0, '-n', $tokens, '--runs', 1] },
    prefill512 => { what => 'prefill 512',
        peer => ['-p', 512, '-n', 0, '-r', 1],
        ours => ['-p', 512, '-n', 0, '--runs', 1] },
    prefill16 => { what => 'prefill 16',
        peer => ['-p', 16, '-n', 0, '-r', 5],
        ours => ['-p', 16, '-n', 0, '--runs', 5] },
    batch8 => { what => 'decode, 8 sequences together', steps => 1 / 8,
        batched => ['-npp', 16, '-ntg', $tokens, '-npl', 8, '-c', 8 *
            (16 + $tokens), '-b', 2048, '-ub', 512],
        ours => ['-p', 0, '-d', 16, '-n', $tokens, '--parallel', 8, '--runs',
            1] },
    contended => { what => "decode beside a busy process on core $core",
        steps => 1, busy => 1,
        peer => ['-p', 0, '-n', $tokens, '-r', 1],
        ours => ['-p', 0, '-n', $tokens, '--runs', 1] },
);
my @columns = split /,/, $list;
$column{$_} or die "no column '$_'\n\n$help" for @columns;
if (grep({ $_ eq 'batch8' } @columns) && !-x $batched) {
    warn "$batched is not there: no column batch8\n";
    @columns = grep { $_ ne 'batch8' } @columns;
}

# --- the busy process: it ends with us, however we end ----------------------
my $busy;
sub calm {
    return if !$busy;
    kill KILL => $busy;
    waitpid $busy, 0;
    $busy = undef;
}
sub disturb {
    my $spin = 'my $p = getppid; while (getppid == $p) { for (1 .. 1e6) {} }';

    defined($busy = fork) or die "fork: $!\n";
    return if $busy;
    exec 'taskset', '-c', $core, $^X, '-e', $spin or POSIX::_exit(1);
}
for my $signal (qw(INT TERM HUP PIPE)) {
    ## no critic (RequireLocalizedPunctuationVars)
    $SIG{$signal} = sub { calm(); exit 1 };
}
END { my $status = $?; calm(); $? = $status }

# --- one run of either ------------------------------------------------------
sub output {
    my @cmd = @_;
    # llama-batched-bench writes its results to the log
    my $log = $cmd[0] eq $batched ? '2>&1' : '2>/dev/null';
    open my $in, '-|', 'sh', '-c', "exec \"\$@\" $log", 'sh', @cmd
        or die "$cmd[0]: $!\n";
    local $/;
    my $text = <$in> // '';
    close $in or die "@cmd: status $?\n";
    return $text;
}
sub median {
    my @v = sort { $a <=> $b } @_;
    return @v ? ($v[ $#v / 2 ] + $v[ @v / 2 ]) / 2 : 0;
}

my ($commit, $cpu) = ('', '');
sub peer_run {
    my ($model, $c) = @_;
    if ($c->{batched}) {
        for (1 .. 3) { # its log now and then loses the line
            my $text = output($batched, '-m', $model, '-t', $threads, '-ngl',
                0, '--output-format', 'jsonl', @{ $c->{batched} });
            return $1 if $text =~ /"speed_tg": ([0-9.]+)/;
        }
        die "$batched printed no result\n";
    }
    my $r = JSON::PP::decode_json(output($bench, '-m', $model, '-t', $threads,
        '-ngl', 0, '-o', 'json', @{ $c->{peer} }));
    ($commit, $cpu) = @{ $r->[0] }{qw(build_commit cpu_info)};
    return median(@{ $r->[0]{samples_ts} });
}
sub our_run {
    my ($model, $c) = @_;
    my $r = JSON::PP::decode_json(output($ours, 'bench', '-m', $model, '-t',
        $threads, '--json', @{ $c->{ours} }));
    return ($r->{ $c->{steps} ? 'decode_per_second' : 'prefill_per_second' },
        $r->{memory_bytes_per_second}, $r->{weight_bytes_per_step});
}

# --- the table --------------------------------------------------------------
sub ends {
    my @v = @_;
    return sprintf '%.1f (%.1f to %.1f)', median(@v), min(@v), max(@v);
}
sub share {
    my ($c, $speed, $bytes, $reads) = @_;
    return $c->{steps} && $reads ? sprintf('%.0f %%',
        100 * $speed * $c->{steps} * $bytes / $reads) : '';
}

my @rows;
for my $model (@models) {
    my (%peer, %ours, %reads, $bytes);
    for my $pair (1 .. $pairs) {
        for my $name (@columns) {
            my $c = $column{$name};
            disturb() if $c->{busy};
            push @{ $peer{$name} }, peer_run($model, $c);
            my ($speed, $reads, $b) = our_run($model, $c);
            calm();
            push @{ $ours{$name} }, $speed;
            push @{ $reads{$name} }, $reads;
            $bytes = $b;
            printf {*STDERR} "%s, pair %d, %s: peer %.1f, penstock %.1f\n",
                $model, $pair, $name, $peer{$name}[-1], $speed;
        }
    }
    (my $short = $model) =~ s{.*/|\.gguf$}{}g;
    for my $name (@columns) {
        my $c = $column{$name};
        my ($p, $o, $r) = map { median(@{ $_->{$name} }) } \%peer, \%ours,
            \%reads;
        my $what = $c->{what};
        if ($c->{busy} && $peer{decode}) {
            $what .= sprintf ' (of alone: %.0f %%, %.0f %%)',
                100 * $p / median(@{ $peer{decode} }),
                100 * $o / median(@{ $ours{decode} });
        }
        push @rows, join ' | ', "| $short, $what", ends(@{ $peer{$name} }),
            ends(@{ $ours{$name} }), sprintf('%.2f', $p ? $o / $p : 0),
            ends(map { $_ / 1e9 } @{ $reads{$name} }),
            share($c, $p, $bytes, $r), share($c, $o, $bytes, $r) . ' |';
    }
}
printf "%s, %s, %d threads, %d pairs; llama.cpp %s\n\n",
    strftime('%Y-%m-%d', localtime), $cpu || 'CPU unknown', $threads, $pairs,
    $commit;
print "| tokens/s: median (least to most) | llama.cpp | penstock | ratio | "
    . "memory reads, GB/s | share, llama.cpp | share, penstock |\n",
    "| --- | --- | --- | --- | --- | --- | --- |\n", map { "$_\n" } @rows;
