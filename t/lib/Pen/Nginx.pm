# Pen::Nginx - a private nginx with TLS on loopback, for one test.
#
#   my $n = Pen::Nginx->start(socket => $d->{socket});
#   "$n->{url}/v1/models"   https, HTTP/1.1 and 2     $n->{ca}  certificate
#   "$n->{plain}/..."       the same without TLS      $n->log   error log
#
# Includes nginx/penstock.conf with the socket's path put in. Options:
#   http, server   more configuration at these levels
#   edit           code that changes the snippet's text in $_
# Runs as the caller; the test is skipped when there is no nginx.
package Pen::Nginx;
use strict;
use warnings;
use Carp qw(croak);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use Test::More ();
use Time::HiRes qw(sleep time);

sub program {
    for ($ENV{PENSTOCK_NGINX}, (map { "$_/nginx" } split /:/, $ENV{PATH}),
        '/usr/sbin/nginx', 'build/nginx/usr/sbin/nginx', 'build/nginx/nginx') {
        return $_ if defined && -x && !-d;
    }
    return;
}

sub free_port {
    my $s = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
        or croak "no free port: $!";
    return $s->sockport;
}

sub start {
    my ($class, %o) = @_;
    my $program = program()
        or Test::More::plan(skip_all => 'no nginx: run contrib/get-nginx');
    my $dir = tempdir('png-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my $self = bless { dir => $dir, owner => $$, program => $program }, $class;
    for (1 .. 5) { # somebody may take the ports in between
        $self->configure(%o);
        return $self if $self->launch;
    }
    Test::More::diag($self->log);
    croak 'nginx did not start';
}

sub certificate {
    my $dir = shift;
    return if -s "$dir/cert.pem";
    system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
        . "-nodes -days 2 -subj /CN=localhost "
        . "-addext subjectAltName=DNS:localhost,IP:127.0.0.1 "
        . "-addext basicConstraints=critical,CA:FALSE "
        . "-keyout $dir/key.pem -out $dir/cert.pem >$dir/openssl.log 2>&1") == 0
        or Test::More::plan(skip_all => 'no openssl to make a certificate');
}

sub snippet {
    my %o = @_;
    open my $in, '<', 'nginx/penstock.conf' or croak "nginx/penstock.conf: $!";
    local $/;
    local $_ = <$in>;
    s{unix:/run/penstock/penstock\.sock}{unix:$o{socket}}
        or croak 'nginx/penstock.conf has no fastcgi_pass line';
    $o{edit}->() if $o{edit};
    return $_;
}

sub configure {
    my ($self, %o) = @_;
    my $dir = $self->{dir};
    my ($tls, $plain) = (free_port(), free_port());
    my ($http, $server) = ($o{http} // '', $o{server} // '');
    certificate($dir);
    @$self{qw(url plain ca)} = ("https://localhost:$tls",
        "http://127.0.0.1:$plain", "$dir/cert.pem");
    my $user = $> ? '' : 'user root;';
    mkdir "$dir/$_" for qw(body fcgi proxy);
    write_file("$dir/penstock.conf", snippet(%o));
    write_file("$dir/nginx.conf", <<"END");
$user daemon on; worker_processes 1; pid $dir/pid; error_log $dir/error.log info;
worker_rlimit_nofile 8192;
events { worker_connections 4096; }
http {
    access_log $dir/access.log;
    client_body_temp_path $dir/body; fastcgi_temp_path $dir/fcgi;
    proxy_temp_path $dir/proxy; uwsgi_temp_path $dir/proxy;
    scgi_temp_path $dir/proxy;
    large_client_header_buffers 4 32k;
    $http
    server {
        listen 127.0.0.1:$tls ssl http2;
        listen 127.0.0.1:$plain;
        server_name localhost;
        ssl_certificate $dir/cert.pem; ssl_certificate_key $dir/key.pem;
        location = /static.txt { root $dir; }
        $server
        include $dir/penstock.conf;
    }
}
END
    write_file("$dir/static.txt", "static\n");
}

sub write_file {
    my ($path, $text) = @_;
    open my $out, '>', $path or croak "$path: $!";
    print $out $text;
    close $out or croak "$path: $!";
}

sub launch {
    my $self = shift;
    my ($dir, $program) = @$self{qw(dir program)};
    system("$program -e $dir/error.log -p $dir/ -c $dir/nginx.conf "
        . ">>$dir/start.log 2>&1") == 0 or return 0;
    my $end = time + 5;
    until (-s "$dir/pid") { return 0 if time > $end; sleep 0.01 }
    open my $in, '<', "$dir/pid" or return 0;
    chomp($self->{pid} = <$in>);
    return 1;
}

sub log {
    my $self = shift;
    my $all = '';
    for my $f (qw(start.log error.log)) {
        open my $in, '<', "$self->{dir}/$f" or next;
        local $/;
        $all .= <$in> // '';
    }
    return $all;
}

sub access_log {
    my $self = shift;
    open my $in, '<', "$self->{dir}/access.log" or return '';
    local $/;
    return <$in> // '';
}

sub DESTROY {
    my $self = shift;
    return if $self->{owner} != $$ || !$self->{pid};
    local ($@, $?);
    kill 'TERM', $self->{pid};
    # It takes its file away at its end, and may stay long as a zombie.
    for (1 .. 200) {
        last unless -e "$self->{dir}/pid" && kill 0, $self->{pid};
        sleep 0.01;
    }
}

1;
