# Pen::Cgroup - a memory cgroup of its own for a test, version 2 or 1, below
# the one that the test runs in; removed at the end.
#
#   my $g = Pen::Cgroup->new(64 << 20) or skip;   # limit in bytes
#   Pen::Daemon->start(in_child => sub { $g->enter });
#   $g->peak; $g->oom_kills;
package Pen::Cgroup;
use strict;
use warnings;

my $made = 0;

sub slurp {
    open my $in, '<', $_[0] or return '';
    local $/;
    return <$in> // '';
}

sub put {
    my ($file, $text) = @_;
    open my $out, '>', $file or return 0;
    my $ok = print {$out} $text;
    return close($out) && $ok;
}

# The folder of this process's cgroup, and the mounted one above it.
sub own {
    my ($version) = @_;
    my ($path) = slurp('/proc/self/cgroup') =~
        ($version == 2 ? qr{^0::(/.*)$}m
                       : qr{^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(/.*)$}m)
        or return;
    for (split /\n/, slurp('/proc/self/mountinfo')) {
        my ($base, $at, $type, $options) =
            m{^\S+ \S+ \S+ (\S+) (\S+) .*? - (\S+) \S+ (\S+)} or next;
        next if $type ne ($version == 2 ? 'cgroup2' : 'cgroup');
        next if $version == 1 && $options !~ /\bmemory\b/;
        $path =~ s{^\Q$base\E(?=/|$)}{} unless $base eq '/';
        return ("$at$path" =~ s{/+$}{}r, $at);
    }
    return;
}

sub new {
    my ($class, $bytes) = @_;
    for my $version (2, 1) {
        my ($dir, $top) = own($version) or next;
        # children have a controller only where their parent hands it on
        while ($version == 2
            && slurp("$dir/cgroup.subtree_control") !~ /\bmemory\b/) {
            last if $dir eq $top;
            $dir =~ s{/[^/]*$}{};
        }
        my $own = "$dir/penstock-test-$$-" . ++$made;
        mkdir $own or next;
        my $self = bless { dir => $own, version => $version, owner => $$ },
            $class;
        return $self if -w "$own/cgroup.procs" && put($version == 2
            ? "$own/memory.max" : "$own/memory.limit_in_bytes", $bytes);
    }
    return;
}

# This process from now on, and what it becomes.
sub enter {
    my $self = shift;
    return put("$self->{dir}/cgroup.procs", $$);
}

sub peak {
    my $self = shift;
    return 0 + (slurp($self->{version} == 2 ? "$self->{dir}/memory.peak"
        : "$self->{dir}/memory.max_usage_in_bytes") || 0);
}

# undef where the system does not count them
sub oom_kills {
    my $self = shift;
    my ($n) = slurp($self->{version} == 2 ? "$self->{dir}/memory.events"
        : "$self->{dir}/memory.oom_control") =~ /^oom_kill (\d+)$/m;
    return $n;
}

sub DESTROY {
    my $self = shift;
    return if $self->{owner} != $$;
    for (1 .. 50) { # what ran in it may still be on its way out
        return if rmdir $self->{dir};
        select undef, undef, undef, 0.1;
    }
    return;
}

1;
