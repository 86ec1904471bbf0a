# The tarball holds what the repository holds, and nothing else but configure
# and its helpers.
use strict;
use warnings;
use Test::More;
use File::Find qw(find);
use File::Path qw(remove_tree);
use File::Temp qw(tempdir);

my $build = $ENV{BUILD} // 'build';
plan skip_all => 'not a git checkout' unless -e '.git';
plan skip_all => 'no git' if system('git --version >/dev/null 2>&1');
plan skip_all => "$build is not configured" unless -e "$build/Makefile";

my %tracked = map { $_ => 1 } split /\n/,
    `git ls-files --cached --others --exclude-standard`;
delete $tracked{$_} for '.gitignore', grep { !-e } keys %tracked;
plan skip_all => 'git does not read this checkout' unless %tracked;

my $dir = tempdir(CLEANUP => 1);
my $out = `make -s -C $build distdir distdir=$dir/dist 2>&1`;
is $?, 0, 'make distdir works' or BAIL_OUT($out);

my %made = map { $_ => 1 } qw(Makefile.in aclocal.m4 config.h.in configure
    build-aux/ar-lib build-aux/compile build-aux/config.guess
    build-aux/config.sub build-aux/depcomp build-aux/install-sh
    build-aux/missing);
my %dist;
find({ no_chdir => 1, wanted => sub {
    $dist{ s{^\Q$dir\E/dist/}{}r } = 1 if -f } }, "$dir/dist");
is_deeply [ grep { !$dist{$_} } sort keys %tracked ], [],
    'every file of the repository is in it';
is_deeply [ grep { !$tracked{$_} && !$made{$_} } sort keys %dist ], [],
    'and no other';
ok -x "$dir/dist/$_", "$_ can be run" for
    qw(configure contrib/quickstart.sh contrib/check.sh t/js/install.sh .ci/run);
done_testing;
