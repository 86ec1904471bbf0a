# contrib/quickstart.sh on a tree that is built: what a newcomer sees, and
# that it leaves nothing behind and touches nobody else's process.
use strict;
use warnings;
use Test::More;
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use lib 't/lib';
use Pen::Nginx;

my $build = $ENV{BUILD} // 'build';
plan skip_all => 'quickstart works in build/'
    unless -d 'build' && -d $build && (stat 'build')[1] == (stat $build)[1];
plan skip_all => 'build/penstockd is not built' unless -x 'build/penstockd';
plan skip_all => 'no nginx: run contrib/get-nginx' unless Pen::Nginx::program();

my $run = 'build/run';
my $qs = 'contrib/quickstart.sh';

sub quickstart {
    my $out = `$qs @_ 2>&1 </dev/null`;
    return ($? >> 8, $out);
}
sub pid_of {
    open my $in, '<', "$run/$_[0].pid" or return 0;
    return 0 + (readline($in) // 0);
}
sub spew {
    my ($file, $text) = @_;
    open my $out, '>', $file or die "$file: $!";
    print $out $text;
    close $out or die "$file: $!";
}
sub gone { my $pid = shift; return !$pid || !kill 0, $pid }

plan skip_all => 'a quickstart is running here: contrib/quickstart.sh stop'
    if grep { my $pid = pid_of($_); $pid && kill 0, $pid } qw(nginx penstockd);

# --- the command line
my ($rc, $out) = quickstart('--help');
is $rc, 0, '--help';
like $out, qr/$_/, "it tells of $_" for qw(--model --port --once stop);
($rc, $out) = quickstart('--frobnicate');
is $rc, 2, 'an unknown option: status 2';
like $out, qr/'--frobnicate'/, 'and its name';
for my $port (qw(0 65536 eight)) {
    ($rc, $out) = quickstart("--port $port");
    isnt $rc, 0, "--port $port is refused";
    like $out, qr/--port takes/, 'with what it takes';
}
($rc, $out) = quickstart('--model build/no-such.gguf');
isnt $rc, 0, 'a missing model is refused';
like $out, qr{no model file \S*build/no-such\.gguf}, 'by name';

# --- a taken port
my $taken = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1')
    or die "no port: $!";
my $port = $taken->sockport;
($rc, $out) = quickstart("--once --port $port");
isnt $rc, 0, 'a taken port is refused';
like $out, qr/port $port is taken/, 'and named';
ok gone(pid_of('penstockd')), 'before anything was started';
close $taken;

# --- once, with a certificate that is about to expire
mkdir $run;
system("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
    . "-days 1 -subj /CN=old -keyout $run/key.pem -out $run/cert.pem "
    . ">$run/openssl.log 2>&1") == 0 or diag 'no old certificate';
$port = Pen::Nginx::free_port();
($rc, $out) = quickstart("--once --port $port");
is $rc, 0, '--once' or diag $out;
like $out, qr/capital of France is Paris/, 'an answer';
like $out, qr/penstock-demo-q8_0 .* done .* 200 .* stop/, 'and its row';
like $out, qr/^quickstart: all done$/m, 'says so';
ok !-e "$run/$_.pid", "no $_ is left" for qw(nginx penstockd);
my $cert = `openssl x509 -in $run/cert.pem -noout -subject -text`;
like $cert, qr/subject=.*localhost/, 'the certificate is a new one';
like $cert, qr/CA:FALSE/, 'and no authority: rustls takes none for a server';
ok !IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port"), 'the port is free';

# --- stays, is replaced, is stopped; the model's path is the caller's
($rc, $out) = quickstart("--port $port");
is $rc, 0, 'without --once' or diag $out;
my %first = map { $_ => pid_of($_) } qw(nginx penstockd);
ok !gone($first{$_}), "$_ stays" for sort keys %first;
is((stat "/proc/$first{nginx}")[4], $>, 'nginx runs as the caller');
my ($key) = $out =~ /^  key +(\S+)$/m;
my $models = `curl -sS --noproxy '*' --cacert $run/cert.pem -H 'Authorization: Bearer $key' https://localhost:$port/v1/models`;
like $models, qr/penstock-demo-q8_0/, 'it serves with the printed key';
$out = `cd contrib/demo-model && ../quickstart.sh --port $port --model penstock-demo-f16.gguf 2>&1 </dev/null`;
is $?, 0, 'a second one takes over, with a model from where it was called'
    or diag $out;
ok gone($first{$_}), "the first $_ is gone" for sort keys %first;
like $out, qr/penstock-demo-f16 /, 'the other model answered';
my %second = map { $_ => pid_of($_) } qw(nginx penstockd);
($rc, $out) = quickstart('stop');
is $rc, 0, 'stop';
ok gone($second{$_}), "$_ ended" for sort keys %second;

# --- a clone whose path is too long for a socket
my $deep = tempdir(CLEANUP => 1) . '/' . 'x' x 60 . '/' . 'y' x 60;
make_path($deep);
system("find . '(' -name node_modules -o -path ./.git -o -path './build-?san' "
    . "-o -path ./$run -o -path ./build/t ')' -prune -o -type f -print0 "
    . "| xargs -0 cp -p --parents -t $deep") == 0 or die 'cp failed';
$out = `$deep/$qs --port $port 2>&1 </dev/null`;
is $?, 0, 'it serves from a deep folder' or diag $out;
my ($short) = map { chomp; $_ } do { open my $in, '<', "$deep/$run/socket-folder"
    or die "no socket-folder: $!"; <$in> };
like $short, qr{^/tmp/penstock\.}, 'the socket is in a temporary folder';
ok -S "$short/penstock.sock", 'there it is';
is +(stat $short)[2] & 07777, 0700, 'nobody else can enter that';
is system("$deep/$qs stop >/dev/null"), 0, 'stop';
ok !-e $short, 'which takes the folder away';

# --- a pid file of before the last boot: the number is somebody else's
my $other = fork // die "fork: $!";
exec { $^X } 'nginx', '-e', 'sleep 60' unless $other;
spew("$run/nginx.pid", "$other\n");
($rc, $out) = quickstart('stop');
ok !gone($other), 'a process that is not ours is let alone';
ok !-e "$run/nginx.pid", 'and the old file goes';
kill 'KILL', $other;
waitpid $other, 0;
done_testing;
