# make install puts everything where README.md and docs/operations.md say.
use strict;
use warnings;
use Test::More;
use File::Find qw(find);
use File::Temp qw(tempdir);

my $build = $ENV{BUILD} // 'build';
plan skip_all => "$build/penstockd is not built" unless -x "$build/penstockd";

sub slurp {
    my ($file) = @_;
    open my $in, '<', $file or return '';
    local $/;
    return <$in>;
}

sub make {
    my ($what, @arg) = @_;
    my $out = `make -s -C $build $what @arg 2>&1`;
    is $?, 0, "make $what @arg" =~ s/=\S+//gr or diag $out;
}

my $dest = tempdir(CLEANUP => 1);
my ($prefix) = slurp("$build/Makefile") =~ /^prefix = (\S+)$/m;
make('install', "DESTDIR=$dest");
my %there;
find({ no_chdir => 1, wanted => sub {
    $there{ s{^\Q$dest\E}{}r } = 1 if -f } }, $dest);

my $doc = "$prefix/share/doc/penstock";
ok $there{$_}, $_ for "$prefix/bin/penstock", "$prefix/bin/penstockd",
    "$prefix/share/penstock/nginx/penstock.conf", "$doc/README.md",
    "$doc/operations.md", "$doc/ledger.md", "$doc/examples/penstockd.service",
    "$doc/examples/penstockd.socket",
    "$doc/examples/penstock.conf";
like `$dest$prefix/bin/$_ --version`, qr/^$_ \d+\.\d+\.\d+$/, "$_ runs"
    for qw(penstock penstockd);

# every installed path that the documents name
my %named = map { $_ => 1 } map { slurp($_) =~ m{/usr/local/[\w/.-]*\w}g }
    'README.md', glob('contrib/penstockd.s*'), glob 'docs/*.md';
ok keys %named > 3, 'documents name installed paths';
ok -e $dest . s{^/usr/local}{$prefix}r, "$_ is there" for sort keys %named;

my $unit = slurp("$dest$doc/examples/penstockd.service");
like $unit, qr{^ExecStart=\Q$prefix\E/bin/penstockd --config}m,
    'the unit starts the installed daemon';
my $socket = slurp("$dest$doc/examples/penstockd.socket");
my ($path) = slurp('nginx/penstock.conf') =~ m{unix:(/run/[\w/.]+)};
like $socket, qr{^ListenStream=\Q$path\E$}m, "the socket is where nginx looks";
like $unit, qr{^RuntimeDirectoryPreserve=yes$}m,
    'and outlives the service in its folder';
like slurp("$dest$doc/examples/penstock.conf"), qr/^#? ?model /m,
    'the sample knows the settings';
is slurp("$dest$prefix/share/penstock/nginx/penstock.conf"),
    slurp('nginx/penstock.conf'), "nginx's part is the repository's";

make('uninstall', "DESTDIR=$dest");
my @left;
find(sub { push @left, $File::Find::name if -f }, $dest);
is_deeply \@left, [], 'make uninstall leaves nothing';
done_testing;
