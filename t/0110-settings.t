# One table makes options, sample file and parser; docs/operations.md lists
# the same keys; the shipped nginx file fits the defaults.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempdir);

my $bin = ($ENV{BUILD} // 'build') . '/penstockd';
plan skip_all => "no $bin" unless -x $bin;
my $dir = tempdir(CLEANUP => 1);

my $help = `$bin --help`;
is $?, 0, '--help';
my @help = $help =~ /^  --([a-z-]+) /mg;
my @meta = qw(config help sample-config version);
my %meta = map { $_ => 1 } @meta;
my @keys = sort grep { !$meta{$_} } @help;
cmp_ok scalar @keys, '>', 20, 'keys in --help';

my $sample = `$bin --sample-config`;
is_deeply [ sort $sample =~ /^#([a-z-]+) /mg ], \@keys,
    'the sample file has the same keys';
open my $in, '<', 'docs/operations.md' or die;
my $doc = do { local $/; <$in> };
my ($table) = $doc =~ /## Every key.*?\n(\|.*?)\n\n/s;
is_deeply [ sort $table =~ /^\| `([a-z-]+)`/mg ], \@keys,
    'docs/operations.md lists the same keys';

# Every default of the sample is accepted, comment signs removed.
my %text = map { $_ => 1 } qw(model model-id chat-format socket-group listen
    cors-origin cpus);
open my $out, '>', "$dir/p.conf" or die;
print $out map { "$_\n" } grep { /^([a-z-]+) / && !$text{$1} }
    map { s/^#(?=[a-z])//r } split /\n/, $sample;
close $out;
my $said = `$bin --config $dir/p.conf --socket $dir/s --db $dir/db 2>&1`;
is $? >> 8, 2, 'the sample without a model';
like $said, qr/model: no model/, 'misses only the model';
$said = `$bin --config $dir/none 2>&1`;
is $? >> 8, 1, 'a file that is not there';
$said = `$bin --model $dir/none --socket $dir/s --db $dir/db 2>&1`;
is $? >> 8, 1, 'a model that is not there';
like $said, qr/none/, 'is named';
$said = `$bin --socket $dir/nowhere/s --db $dir/db 2>&1`;
like $said, qr/model: no model/, 'the model is asked for first';
$said = `$bin --model $dir/none --socket $dir/nowhere/s --db $dir/db 2>&1`;
is $? >> 8, 1, 'a socket in a folder that is not there';
like $said, qr/nowhere\/s\.lock: .*folder/, 'the folder is what is missing';
for my $id ('x' x 129, "caf\xe9") {
    $said = `$bin --model-id '$id' --model $dir/none --socket $dir/s --db $dir/db 2>&1`;
    is $? >> 8, 2, 'an id that cannot stand in an answer';
    like $said, qr/model-id: .* UTF-8/, 'says what is accepted';
}
like `$bin --version`, qr/^penstockd \d/, '--version';

open $in, '<', 'contrib/penstockd.service' or die;
my $unit = do { local $/; <$in> };
my ($stop) = $unit =~ /TimeoutStopSec=(\d+)/;
my ($drain) = $help =~ /--drain-timeout .*\[(\d+)\]/;
cmp_ok $stop, '>', $drain, 'systemd waits longer than a drain takes';
open $in, '<', 'nginx/penstock.conf' or die;
my $nginx = do { local $/; <$in> };
my ($body) = $help =~ /--body-max .*\[(\w+)\]/;
like $nginx, qr/client_max_body_size $body;/, "nginx's body cap is ours";
my ($socket) = $help =~ /--socket .*\[(\S+)\]/;
like $nginx, qr/fastcgi_pass unix:\Q$socket\E;/, "nginx's path is ours";
my ($longest) = $help =~ /--request-timeout .*\[(\d+)\]/;
my ($read) = $nginx =~ /^ *fastcgi_read_timeout (\d+)s;/m;
cmp_ok $read // 0, '>', $longest, 'nginx waits longer than the daemon';
# What keeps working by another means, or cannot be seen from outside.
like $nginx, qr/^ *\Q$_\E;/m, $_ for 'fastcgi_buffering off',
    'fastcgi_request_buffering on', 'fastcgi_ignore_client_abort off',
    'fastcgi_intercept_errors off', 'fastcgi_param HTTP_PROXY      ""';
done_testing;
