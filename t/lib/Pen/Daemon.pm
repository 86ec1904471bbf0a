# Pen::Daemon - a daemon of its own for a test: temporary folder, socket,
# database; killed when the object goes out of scope.
#
#   my $d = Pen::Daemon->start(model => 'FILE', args => { parallel => 2 });
#   my $d = Pen::Daemon->scripted(env => { PENSTOCK_SCRIPT => '...' });
#   $d->{socket} $d->{db} $d->{dir} $d->{pid};  $d->log;  $d->stop -> exit code
#
# Ready means: the socket takes connections. A sanitizer's report in the log
# fails the test, and so does an exit that was not asked for.
package Pen::Daemon;
use strict;
use warnings;
use Carp qw(croak);
use File::Temp qw(tempdir);
use IO::Socket::UNIX;
use JSON::PP ();
use Pen::Fcgi;
use POSIX qw(WNOHANG);
use Scalar::Util qw(weaken);
use Test::More ();
use Time::HiRes qw(sleep time);

my %all; # running ones, weak

our $DEMO = 'contrib/demo-model/penstock-demo-q8_0.gguf';

sub build { $ENV{BUILD} // 'build' }

# The real daemon with a model (default: the demo model).
sub start {
    my ($class, %o) = @_;
    return $class->spawn(bin => build() . '/penstockd', with_model(%o));
}

sub with_model {
    my %o = @_;
    my $model = delete $o{model} // $DEMO;
    $o{args} = { model => $model, 'model-id' => 'demo', %{ $o{args} // {} } };
    return %o;
}

# The daemon over the scripted engine (t/lib/wire_scripted.c lists its
# environment); skips the test file when it was not built.
sub scripted {
    my ($class, %o) = @_;
    my $bin = build() . '/t/penstockd-scripted';
    Test::More::plan(skip_all => "no $bin: make tests first")
        unless -x $bin;
    return $class->spawn(bin => $bin, with_model(%o));
}

sub spawn {
    my ($class, %o) = @_;
    my $dir = $o{dir} // tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless {
        bin => $o{bin}, dir => $dir, env => $o{env} // {},
        socket => $o{socket} // "$dir/p.sock", db => "$dir/penstock.db",
        logfile => $o{log} // "$dir/log", owner => $$, limit => $o{nofile},
        in_child => $o{in_child},
    }, $class;
    weaken($all{ $self + 0 } = $self);
    my %args = (socket => $self->{socket}, db => $self->{db},
        %{ $o{args} // {} });
    delete $args{$_} for grep { !defined $args{$_} } keys %args;
    $self->{argv} = [ map { ("--$_", $args{$_}) } sort keys %args ];
    $self->run;
    $self->wait_ready($o{wait} // 60) unless $o{no_wait};
    return $self;
}

# Start the process (again: after stop or kill -9).
sub run {
    my $self = shift;
    my $before = -s $self->{logfile} // 0;
    my $pid = fork // croak "fork: $!";
    if (!$pid) {
        %ENV = (%ENV, %{ $self->{env} });
        open STDIN, '<', '/dev/null';
        open STDOUT, '>>', $self->{logfile} or die;
        open STDERR, '>>', $self->{logfile} or die;
        $self->{in_child}->() if $self->{in_child}; # has the daemon's pid
        my @limit = $self->{limit}
            ? ('sh', '-c', "ulimit -n $self->{limit}; exec \"\$@\"", 'sh') : ();
        my @cmd = (@limit, $self->{bin}, @{ $self->{argv} });
        exec { $cmd[0] } @cmd or POSIX::_exit(127);
    }
    @$self{qw(pid status log_from)} = ($pid, undef, $before);
    return $self;
}

sub wait_ready {
    my ($self, $seconds) = @_;
    my $end = time + $seconds;
    while (time < $end) {
        return $self if -S $self->{socket}
            && $self->log_since =~ / ready /
            && IO::Socket::UNIX->new(Peer => $self->{socket});
        if (!$self->alive) {
            Test::More::diag($self->log);
            croak "daemon ended at its start";
        }
        sleep 0.02;
    }
    Test::More::diag($self->log);
    croak "daemon not ready after $seconds s";
}

sub log_since {
    my $self = shift;
    return substr $self->log, $self->{log_from} // 0;
}

sub log {
    my $self = shift;
    open my $in, '<', $self->{logfile} or return '';
    local $/;
    return <$in> // '';
}

sub alive {
    my $self = shift;
    return 0 unless $self->{pid} && !defined $self->{status};
    return 1 unless waitpid($self->{pid}, WNOHANG) == $self->{pid};
    $self->{status} = $?;
    return 0;
}

sub kill {
    my ($self, $signal) = @_;
    return CORE::kill($signal, $self->{pid});
}

# Wait for the end; undef when it did not come. Exit code, or 128 + signal.
sub wait_end {
    my ($self, $seconds) = @_;
    my $end = time + ($seconds // ($ENV{PENSTOCK_SANITIZER} ? 90 : 30));
    while ($self->alive) {
        return undef if time > $end;
        sleep 0.01;
    }
    my $s = $self->{status} // 0;
    return $s & 127 ? 128 + ($s & 127) : $s >> 8;
}

sub stop {
    my ($self, $seconds) = @_;
    $self->kill('TERM') if $self->alive;
    return $self->wait_end($seconds);
}

# One fact from /proc: VmRSS, Threads, FDSize.
sub proc {
    my ($self, $what) = @_;
    open my $in, '<', "/proc/$self->{pid}/status" or return;
    /^\Q$what\E:\s+(\d+)/ and return $1 while <$in>;
    return;
}

# Seconds of processor time so far.
sub cpu {
    my $self = shift;
    open my $in, '<', "/proc/$self->{pid}/stat" or return 0;
    my @f = split ' ', <$in> =~ s/^.*\)//r;
    return ($f[11] + $f[12]) / POSIX::sysconf(POSIX::_SC_CLK_TCK());
}

# A new key of that name in this daemon's database, as penstock prints it. The
# daemon looks once a second: return when it refuses what is no key.
sub add_key {
    my ($self, $name) = @_;
    my $bin = build() . '/penstock';
    my $json = `$bin key add $name --db $self->{db} --json`;
    croak "penstock key add: exit $?" if $?;
    my $end = time + 30;
    while (Pen::Fcgi->request($self->{socket}, uri => '/v1/models',
            params => { HTTP_AUTHORIZATION => 'Bearer pk-none' })->{status} != 401) {
        croak 'the daemon has not seen its new key' if time > $end;
        sleep 0.02;
    }
    return JSON::PP::decode_json($json)->{key};
}

# Rows of the ledger, oldest first, as hashes; `where` is SQL.
sub rows {
    my ($self, $where) = @_;
    my $sql = 'SELECT * FROM request WHERE ' . ($where // '1') . ' ORDER BY id';
    open my $in, '-|', 'sqlite3', '-readonly', '-json', '-cmd',
        '.timeout 5000', $self->{db}, $sql or croak "sqlite3: $!";
    local $/;
    my $json = <$in> // '';
    close $in;
    return length $json ? @{ JSON::PP->new->utf8->decode($json) } : ();
}

# Wait until some rows match; then all that do.
sub wait_rows {
    my ($self, $where, $n, $seconds) = @_;
    my $end = time + ($seconds // 10);
    for (;;) {
        my @r = $self->rows($where);
        return @r if @r >= ($n // 1) || time > $end;
        sleep 0.02;
    }
}

# /health as a hash, asked over the socket.
sub health {
    my $self = shift;
    my $r = Pen::Fcgi->request($self->{socket}, uri => '/health');
    return JSON::PP->new->utf8->decode($r->{body});
}

# Wait until /health says so many run and wait; false when it never does.
sub wait_load {
    my ($self, $running, $waiting, $seconds) = @_;
    my $end = time + ($seconds // 10);
    for (;;) {
        my $m = $self->health;
        return 1 if $m->{running} == $running && $m->{waiting} == $waiting;
        return 0 if time > $end;
        sleep 0.005;
    }
}

sub sanitizer_report {
    my $self = shift;
    my ($r) = $self->log =~
        /((?:ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:).*)/s;
    return $r;
}

# End it whatever its state, and look at what it left.
sub finish {
    my $self = shift;
    return if $self->{owner} != $$ || $self->{finished}++;
    my $asked = defined $self->{status};
    if ($self->alive && !defined $self->stop(10)) {
        CORE::kill('KILL', $self->{pid});
        waitpid $self->{pid}, 0;
    }
    if (my $r = $self->sanitizer_report) {
        Test::More::diag(substr $r, 0, 6000);
        Test::More::fail('no sanitizer report');
    } elsif (!Test::More->builder->is_passing && !$asked) {
        Test::More::diag("daemon's log, its end:\n", substr $self->log, -3000);
    }
    return;
}

sub DESTROY {
    my $self = shift;
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT';
    local ($@, $?);
    delete $all{ $self + 0 };
    $self->finish;
}

# File lexicals outlive this; what still runs ends here, while a failure
# still counts.
END {
    local ($@, $?);
    $_->finish for grep { defined } values %all;
}

1;
