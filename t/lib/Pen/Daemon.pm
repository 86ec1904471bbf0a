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
use POSIX qw(WNOHANG);
use Test::More ();
use Time::HiRes qw(sleep time);

our $DEMO = 'contrib/demo-model/penstock-demo-q8_0.gguf';

sub build { $ENV{BUILD} // 'build' }

# The real daemon with a model (default: the demo model).
sub start {
    my ($class, %o) = @_;
    my $model = delete $o{model} // $DEMO;
    $o{args} = { model => $model, 'model-id' => 'demo', %{ $o{args} // {} } };
    return $class->spawn(bin => build() . '/penstockd', %o);
}

# The daemon over the scripted engine (t/lib/wire_scripted.c lists its
# environment); skips the test file when it was not built.
sub scripted {
    my ($class, %o) = @_;
    my $bin = build() . '/t/penstockd-scripted';
    Test::More::plan(skip_all => "no $bin: make check_PROGRAMS first")
        unless -x $bin;
    return $class->spawn(bin => $bin, %o);
}

sub spawn {
    my ($class, %o) = @_;
    my $dir = $o{dir} // tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless {
        bin => $o{bin}, dir => $dir, env => $o{env} // {},
        socket => $o{socket} // "$dir/p.sock", db => "$dir/penstock.db",
        logfile => $o{log} // "$dir/log", owner => $$, limit => $o{nofile},
    }, $class;
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
    my $end = time + ($seconds // 20);
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

sub sanitizer_report {
    my $self = shift;
    my ($r) = $self->log =~
        /((?:ERROR: \w+Sanitizer|WARNING: ThreadSanitizer|runtime error:).*)/s;
    return $r;
}

sub DESTROY {
    my $self = shift;
    return if $self->{owner} != $$;
    local ($@, $?);
    my $asked = defined $self->{status};
    if ($self->alive) {
        my $rc = $self->stop(10);
        if (!defined $rc) {
            CORE::kill('KILL', $self->{pid});
            waitpid $self->{pid}, 0;
        }
    }
    if (my $r = $self->sanitizer_report) {
        Test::More::diag(substr $r, 0, 6000);
        Test::More::fail('no sanitizer report');
    } elsif (!Test::More->builder->is_passing && !$asked) {
        my $log = $self->log;
        Test::More::diag("daemon's log, its end:\n", substr $log, -3000);
    }
}

1;
