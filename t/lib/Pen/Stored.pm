package Pen::Stored;
# Stored responses of a daemon, as its clients and its admin see them.
#
#   my $r = create($d, input => 'Hi', key => $key);   # the object, with status
#   my $r = at($d, GET => $id, $key);     # {http} and the members of the object
#   sql($d, 'SELECT ...');                # lines of the shell
use strict;
use warnings;
use Exporter 'import';
use JSON::PP ();
use Pen::Fcgi;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(create at sql wait_for remains bearer);
my $json = JSON::PP->new->utf8->canonical;

sub bearer {
    my ($key) = @_;
    return { $key ? (HTTP_AUTHORIZATION => "Bearer $key") : () };
}

sub object {
    my ($r) = @_;
    my $v = eval { $json->decode($r->{body} // '') } // {};
    return { %$v, http => $r->{status} };
}

sub create {
    my ($d, %o) = @_;
    my $key = delete $o{key};
    return object(Pen::Fcgi->request($d->{socket}, uri => '/v1/responses',
        body => $json->encode(\%o), params => bearer($key), timeout => 60));
}

sub at {
    my ($d, $method, $id, $key) = @_;
    return object(Pen::Fcgi->request($d->{socket}, method => $method,
        uri => "/v1/responses/$id", params => bearer($key), timeout => 60));
}

sub sql {
    my ($d, $text) = @_;
    open my $in, '-|', 'sqlite3', '-cmd', '.timeout 5000', $d->{db}, $text
        or die "sqlite3: $!";
    chomp(my @lines = <$in>);
    return join "\n", @lines;
}

# Until it is true.
sub wait_for {
    my ($what, $seconds) = @_;
    my $end = time + ($seconds // 60);
    while (!$what->()) {
        return 0 if time > $end;
        sleep 0.02;
    }
    return 1;
}

# Which files of the daemon's folder hold this text?
sub remains {
    my ($d, $text) = @_;
    my @found;
    for my $file (grep { -f } glob "$d->{dir}/*") {
        open my $in, '<:raw', $file or next;
        local $/;
        push @found, $file =~ m{([^/]+)$} if index(<$in> // '', $text) >= 0;
    }
    return "@found";
}

1;
