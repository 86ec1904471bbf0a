# A thousand streams wait behind one engine: each hears its place in time, none
# holds 64 KiB, waiting costs next to no processor time, and when all leave at
# once the queue is empty and every row says so.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use List::Util qw(max sum);
use POSIX ();
use Time::HiRes qw(time sleep);
use Pen::Daemon;
use Pen::Http;
use Pen::Model;

my $bin = Pen::Daemon::build() . '/penstockd';
plan skip_all => "$bin is not built" unless -x $bin;
my $slow = $ENV{PENSTOCK_SANITIZER} ? 20 : 1;
my $many = $slow > 1 ? 200 : 1000;
my ($files) = `sh -c 'ulimit -n'` =~ /^(\d+)/;
plan skip_all => "ulimit -n is $files" if ($files // 1e9) < $many + 50;

my $uri = '/v1/completions';
my $model = Pen::Model::slow();
my $words = join ' ', map { "word$_" } 1 .. 120; # 1 KB, 1,500 tokens
my $long = Pen::Http::json(Pen::Model::ask('Count:', 8000));
my $waits = Pen::Http::json(Pen::Model::ask($words, 100));

sub daemon {
    return Pen::Daemon->start(model => $model, nofile => $many + 200, args => {
        parallel => 1, 'side-slots' => 0, threads => 1,
        'max-queue' => 2 * $many, @_ });
}

sub opened {
    my ($d, $body) = @_;
    my $f = Pen::Fcgi->connect($d->{socket}) or BAIL_OUT("connect: $!");
    $f->send_request(uri => $uri, body => $body);
    return $f;
}

# So many long ones that one runs whatever the machine, and all the others
# behind them. Returns both lists.
sub crowd {
    my $d = shift;
    my @ahead = map { opened($d, $long) } 1 .. 30;
    ok $d->wait_load(1, 29, 10 * $slow), 'one runs, some more are before us';
    return (\@ahead, [ map { opened($d, $waits) } 1 .. $many ]);
}

# Read what comes for so long: per stream its text and when each piece came.
sub listen_to {
    my ($streams, $seconds) = @_;
    my %by = map { fileno $_->{s} => $_ } @$streams;
    my $all = '';
    vec($all, $_, 1) = 1 for keys %by;
    my $end = time + $seconds;
    while ((my $left = $end - time) > 0) {
        next unless select my $ready = $all, undef, undef, $left;
        for my $fd (grep { vec $ready, $_, 1 } keys %by) {
            my $f = $by{$fd};
            vec($all, $fd, 1) = 0
                unless sysread $f->{s}, $f->{in}, 65536, length $f->{in};
            push @{ $f->{at} }, time;
        }
    }
}

# Processor seconds by thread name.
sub threads {
    my $d = shift;
    my %cpu;
    for my $t (glob "/proc/$d->{pid}/task/*/stat") {
        open my $in, '<', $t or next;
        my ($name, $rest) = <$in> =~ /\((.*)\) (.*)/ or next;
        my @f = split ' ', $rest;
        $cpu{$name} += ($f[11] + $f[12])
            / POSIX::sysconf(POSIX::_SC_CLK_TCK());
    }
    return \%cpu;
}

# --- lines every half second ---
my $d = daemon('wait-line-ms' => 500);
my ($ahead, $all) = crowd($d);
ok $d->wait_load(1, $many + 29, 30 * $slow), "$many wait";
listen_to($all, 4 * $slow);
my (@lines, @first, $strange);
for my $f (@$all) {
    my @l = split /\n\n/, $f->response(0)->{body};
    my @good = map { /^: waiting, position (\d+)(?:, about \d+ s)?, \d+ s so far$/
        ? $1 : () } @l;
    push @lines, scalar @good;
    push @first, $good[0] // 0;
    $strange++ if @l != @good;
}
@lines = sort { $a <=> $b } @lines;
is $strange, undef, 'nothing but waiting lines';
cmp_ok $lines[0], '>=', 3, "every one hears of its place: $lines[0] to $lines[-1] lines";
my $gap = max map { my $a = $_->{at}; map { $a->[$_] - $a->[ $_ - 1 ] } 1 .. $#$a } @$all;
cmp_ok $gap, '<', 2 * $slow, sprintf 'in time: %.2f s between two at most', $gap;
cmp_ok $first[-1] - $first[0], '>', $many / 2,
    "who comes later is told of a later place: $first[0], $first[-1]";

# --- all leave at once ---
$_->close for @$all, @$ahead;
ok $d->wait_load(0, 0, 20 * $slow), 'all left: nobody runs, nobody waits';
my @rows = $d->wait_rows("finish_reason = 'abandoned'", $many + 30, 30 * $slow);
cmp_ok scalar(@rows), '>=', $many, 'their rows say abandoned';
is scalar(grep { $_->{max_tokens} == 100 && $_->{completion_tokens} } @rows),
    0, 'no token was made for who waited';
is_deeply [ $d->rows("state = 'open'") ], [], 'no row is open';
is $d->stop, 0, 'ends well';

# --- what waiting costs, with the usual lines ---
$d = daemon();
$ahead = [ map { opened($d, $long) } 1 .. 30 ];
ok $d->wait_load(1, 29, 10 * $slow), 'one runs';
my $before = $d->proc('VmRSS');
$all = [ map { opened($d, $waits) } 1 .. $many ];
ok $d->wait_load(1, $many + 29, 30 * $slow), "$many wait";
my $each = ($d->proc('VmRSS') - $before) / $many;
my ($from, $t) = (threads($d), time);
listen_to($all, 12);
my $to = threads($d);
my %cost = map { $_ => 100 * ($to->{$_} - ($from->{$_} // 0)) / (time - $t) }
    keys %$to;
diag sprintf '%.1f KiB a stream; %% of a core: %s', $each,
    join ', ', map { sprintf "$_ %.1f", $cost{$_} } sort keys %cost;
SKIP: {
    skip 'sanitizers use memory of their own', 2 if $slow > 1;
    cmp_ok $each, '<', 64, sprintf 'a stream that waits holds %.1f KiB', $each;
    my $sum = sum map { $cost{$_} // 0 } qw(io writer handler);
    cmp_ok $sum, '<', 20, sprintf 'they take %.1f %% of a core', $sum;
}
is scalar(grep { $_->{in} =~ /: waiting/ } @$all), $many, 'all were told';
$_->close for @$all, @$ahead;
ok $d->wait_load(0, 0, 20 * $slow), 'all left';
is $d->stop, 0, 'ends well';
done_testing;
