# A process that is told by lines and answers by lines: the sqlite3 shell, or
# a tool of ours. It dies with the object.
package Pen::Shell;
use strict;
use warnings;
use IPC::Open2;
use IO::Handle;

# Is there such a program on PATH?
sub found {
    my ($name) = @_;
    return scalar grep { -x "$_/$name" } split /:/, $ENV{PATH} // '';
}

sub start {
    my ($class, @command) = @_;
    my ($out, $in);
    my $pid = open2($out, $in, @command);
    $in->autoflush(1);
    return bless {pid => $pid, in => $in, out => $out}, $class;
}

sub say {
    my ($self, $line) = @_;
    print { $self->{in} } "$line\n";
}

# One line of the answer, without its end; undef when the process ended.
sub hear {
    my ($self) = @_;
    my $line = readline $self->{out};
    chomp $line if defined $line;
    return $line;
}

sub ask {
    my ($self, $line) = @_;
    $self->say($line);
    return $self->hear;
}

# End of input, then the exit status.
sub finish {
    my ($self) = @_;
    return unless $self->{pid};
    close $self->{in};
    waitpid $self->{pid}, 0;
    $self->{pid} = 0;
    return $? >> 8;
}

sub DESTROY {
    my ($self) = @_;
    return unless $self->{pid};
    kill 'KILL', $self->{pid};
    local $?;
    waitpid $self->{pid}, 0;
}

1;
