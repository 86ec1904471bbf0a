# Pen::Fcgi - FastCGI by hand, straight to the daemon's socket.
#
#   my $f = Pen::Fcgi->connect($socket);        # Unix path or HOST:PORT
#   $f->begin(keep => 1); $f->params({...}); $f->stdin($body);
#   my $r = $f->response(5);   # {status headers body ended times error}
#   my $r = Pen::Fcgi->request($socket, method => 'POST', uri => '/v1/...',
#                              body => $json, params => {...});
#
# A request looks as nginx/penstock.conf sends it, from a local client
# unless params say otherwise. `ended`: END_REQUEST came. `times`: [seconds,
# bytes] of each STDOUT record.
package Pen::Fcgi;
use strict;
use warnings;
use Carp qw(croak);
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use Time::HiRes qw(time);

use constant { R_BEGIN => 1, R_ABORT => 2, R_END => 3, R_PARAMS => 4,
    R_STDIN => 5, R_STDOUT => 6 };

sub connect {
    my ($class, $to) = @_;
    my $s = $to =~ m{/}
        ? IO::Socket::UNIX->new(Peer => $to)
        : IO::Socket::INET->new(PeerAddr => $to);
    return unless $s;
    $s->autoflush(1);
    return bless { s => $s, id => 1, in => '' }, $class;
}

sub raw {
    my ($self, $bytes) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $sent = 0;
    while ($sent < length $bytes) {
        my $n = syswrite $self->{s}, $bytes, length($bytes) - $sent, $sent;
        return 0 unless defined $n;
        $sent += $n;
    }
    return 1;
}

sub record {
    my ($self, $type, $content) = @_;
    return $self->raw(pack('CCnnCC', 1, $type, $self->{id}, length $content, 0,
        0) . $content);
}

sub begin {
    my ($self, %o) = @_;
    return $self->record(R_BEGIN, pack 'nCx5', 1, $o{keep} ? 1 : 0);
}

sub pair {
    my ($name, $value) = @_;
    my $len = sub { $_[0] < 128 ? chr $_[0] : pack 'N', $_[0] | 0x80000000 };
    return $len->(length $name) . $len->(length $value) . $name . $value;
}

# All pairs as one byte string, cut into records of at most `piece` bytes.
sub params {
    my ($self, $p, $piece) = @_;
    my $all = join '', map { pair($_, $p->{$_}) } sort keys %$p;
    $piece //= 65528;
    while (length $all) {
        $self->record(R_PARAMS, substr $all, 0, $piece, '') or return 0;
    }
    return $self->record(R_PARAMS, '');
}

sub stdin {
    my ($self, $body) = @_;
    for (my $at = 0; $at < length $body; $at += 32768) {
        $self->record(R_STDIN, substr $body, $at, 32768) or return 0;
    }
    return $self->record(R_STDIN, '');
}

sub nginx_params {
    my %o = @_;
    my $body = $o{body} // '';
    return {
        REQUEST_METHOD => $o{method} // (defined $o{body} ? 'POST' : 'GET'),
        REQUEST_URI => $o{uri} // '/health', QUERY_STRING => '',
        CONTENT_TYPE => defined $o{body} ? 'application/json' : '',
        CONTENT_LENGTH => defined $o{body} ? length $body : '',
        REMOTE_ADDR => '127.0.0.1', PENSTOCK_EDGE => 'nginx',
        %{ $o{params} // {} },
    };
}

# Send a whole request.
sub send_request {
    my ($self, %o) = @_;
    $self->begin(keep => $o{keep});
    $self->params(nginx_params(%o), $o{piece});
    return $self->stdin($o{body} // '');
}

# The next record as {type content}; undef at a time-out, 0 at the end.
sub next_record {
    my ($self, $seconds) = @_;
    my $end = time + $seconds;
    for (;;) {
        if (length $self->{in} >= 8) {
            my ($v, $type, $id, $n, $pad) = unpack 'CCnnC', $self->{in};
            if (length $self->{in} >= 8 + $n + $pad) {
                my $content = substr $self->{in}, 8, $n;
                substr $self->{in}, 0, 8 + $n + $pad, '';
                return { type => $type, id => $id, content => $content };
            }
        }
        my $left = $end - time;
        return if $left <= 0
            || !IO::Select->new($self->{s})->can_read($left);
        my $n = sysread $self->{s}, $self->{in}, 65536, length $self->{in};
        return 0 unless $n;
    }
}

# Read until END_REQUEST, the end of the connection, or a time-out.
sub response {
    my ($self, $seconds, $until) = @_;
    my $r = { out => '', times => [], ended => 0 };
    my $end = time + ($seconds // ($ENV{PENSTOCK_SANITIZER} ? 60 : 10));
    for (;;) {
        my $rec = $self->next_record($end - time);
        if (!$rec) {
            $r->{error} = defined $rec ? 'closed' : 'timeout';
            last;
        }
        if ($rec->{type} == R_STDOUT && length $rec->{content}) {
            $r->{out} .= $rec->{content};
            push @{ $r->{times} }, [ time, length $rec->{content} ];
            last if $until && $r->{out} =~ $until;
        } elsif ($rec->{type} == R_END) {
            $r->{ended} = 1;
            last;
        }
    }
    return split_head($r);
}

sub split_head {
    my $r = shift;
    my ($head, $body) = split /\r\n\r\n/, $r->{out}, 2;
    $r->{body} = $body // '';
    for (split /\r\n/, $head // '') {
        my ($k, $v) = /^([^:]+):\s*(.*)$/ or next;
        $r->{headers}{ lc $k } = $v;
    }
    ($r->{status}) = ($r->{headers}{status} // '') =~ /^(\d+)/;
    return $r;
}

sub request {
    my ($class, $to, %o) = @_;
    my $f = $class->connect($to) or croak "connect $to: $!";
    $f->send_request(%o);
    return $f->response($o{timeout});
}

sub close {
    my $self = shift;
    close delete $self->{s} if $self->{s};
    return;
}

1;
