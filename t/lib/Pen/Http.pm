# Pen::Http - requests through nginx with curl; streams with arrival times.
#
#   my $h = Pen::Http->new($nginx);
#   my $r = $h->get('/health');            # {status headers body json}
#   my $r = $h->post('/v1/...', {...}, headers => [...], curl => [...]);
#   my $s = $h->stream('/v1/...', {...}, h2 => 1);
#   while (my $line = $s->line(5)) { $line->[0] seconds, $line->[1] text }
#   $s->abort;   # kills the client
#   Pen::Http::chat(20)                    # body of a streamed chat request
package Pen::Http;
use strict;
use warnings;
use Carp qw(croak);
use File::Temp qw(tempfile);
use IO::Select;
use JSON::PP ();
use Time::HiRes qw(time);

# A chat request of n tokens as a hash; more fields win.
sub chat {
    my ($n, %more) = @_;
    return { messages => [ { role => 'user', content => 'Hello' } ],
        stream => JSON::PP::true, max_tokens => $n, temperature => 0, %more };
}

sub json { return JSON::PP->new->utf8->canonical->encode($_[0]) }

sub new {
    my ($class, $nginx) = @_;
    return bless { url => $nginx->{url}, ca => $nginx->{ca} }, $class;
}

sub curl_args {
    my ($self, $path, $body, %o) = @_;
    my $url = $path =~ m{^https?://} ? $path : $self->{url} . $path;
    my @a = ('curl', '-sS', '-N', '--noproxy', '*', '--cacert', $self->{ca},
        '--max-time', $o{max_time} // 60, $o{h2} ? '--http2' : '--http1.1');
    if (defined $body) {
        my $file;
        if (!ref $body && $body =~ /^\@/) {
            $file = substr $body, 1;
        } else {
            (my $fh, $file) = tempfile('pbody-XXXXXX', TMPDIR => 1, UNLINK => 1);
            binmode $fh;
            print $fh ref $body ? JSON::PP->new->utf8->encode($body) : $body;
            close $fh;
        }
        push @a, '-H', 'Content-Type: application/json',
            '--data-binary', "\@$file";
    }
    push @a, map { ('-H', $_) } 'Expect:', @{ $o{headers} // [] };
    return (@a, @{ $o{curl} // [] }, $url);
}

sub ask {
    my ($self, @args) = @_;
    my @cmd = $self->curl_args(@args);
    splice @cmd, 1, 0, '-i', '--suppress-connect-headers';
    my $t = time;
    open my $in, '-|', @cmd or croak "curl: $!";
    binmode $in;
    local $/;
    my $text = <$in> // '';
    close $in;
    my $r = { curl => $? >> 8, seconds => time - $t };
    $text =~ s/^HTTP\S+ 100[^\n]*\r\n\r\n//;
    ($r->{head}, $r->{body}) = split /\r\n\r\n/, $text, 2;
    $r->{head} //= '';
    $r->{body} //= '';
    ($r->{status}) = $r->{head} =~ /^HTTP\S+ (\d+)/;
    for (split /\r\n/, $r->{head}) {
        $r->{headers}{ lc $1 } = $2 if /^([^:\s]+):\s*(.*)$/;
    }
    $r->{json} = eval { JSON::PP->new->utf8->decode($r->{body}) };
    return $r;
}

sub get { my ($self, $path, @o) = @_; return $self->ask($path, undef, @o) }
sub post { my ($self, $path, $body, @o) = @_; return $self->ask($path, $body, @o) }

sub stream {
    my ($self, @args) = @_;
    my @cmd = $self->curl_args(@args);
    my $pid = open my $in, '-|', @cmd;
    croak "curl: $!" unless $pid;
    binmode $in;
    return bless { pid => $pid, in => $in, buf => '', started => time },
        'Pen::Http::Stream';
}

package Pen::Http::Stream;
use Time::HiRes qw(time);

# The next line that is not empty as [time, text]; undef at the end, with
# {timeout} set when it was a time-out.
sub line {
    my ($self, $seconds) = @_;
    my $end = time + $seconds;
    for (;;) {
        while ($self->{buf} =~ s/^([^\n]*)\n//) {
            return [ $self->{at}, $1 ] if length $1;
        }
        my $left = $end - time;
        if ($left <= 0 || !IO::Select->new($self->{in})->can_read($left)) {
            $self->{timeout} = 1;
            return;
        }
        my $n = sysread $self->{in}, $self->{buf}, 65536, length $self->{buf};
        $self->{at} = time;
        return unless $n;
    }
}

# All lines to the end.
sub lines {
    my ($self, $seconds) = @_;
    my ($end, @all) = (time + $seconds);
    while (my $l = $self->line($end - time)) { push @all, $l }
    return @all;
}

sub abort {
    my $self = shift;
    kill 'KILL', $self->{pid} if $self->{pid};
    close delete $self->{in} if $self->{in};
    delete $self->{pid};
    return;
}

sub finish {
    my $self = shift;
    close delete $self->{in} if $self->{in};
    delete $self->{pid};
    return $? >> 8;
}

sub DESTROY { my $self = shift; local ($@, $?); $self->abort if $self->{pid} }

1;
