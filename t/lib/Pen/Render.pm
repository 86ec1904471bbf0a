# Pen::Render - chat requests to prompts, and small models with chosen
# templates and tokens.
#
#   my $got = render({ messages => [...] }, '-m', FILE);  # or { error => ... }
#   my $file = model('name', '--template', FILE, ...);    # contrib/mkmodel
package Pen::Render;
use strict;
use warnings;
use Exporter 'import';
use File::Temp 'tempdir';
use JSON::PP ();
use Pen::Gguf 'gguf_check';
use Test::More ();

our @EXPORT = qw(json render model user spit scratch count);
my $build = $ENV{BUILD} // 'build';
my $json = JSON::PP->new->utf8->canonical;
my $files = 0;
my $tmp = tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1);

sub json { return $json }
sub user { return { role => 'user', content => $_[0] } }

sub spit {
    my ($path, $bytes) = @_;
    open my $out, '>:raw', $path or die "$path: $!";
    print $out $bytes;
    close $out or die "$path: $!";
    return $path;
}

# A file of the test with these bytes.
sub scratch { return spit("$tmp/" . ++$files, $_[0]) }

# The request may be ready JSON.
sub render {
    my ($request, @args) = @_;
    my $file = spit("$tmp/request.json",
        ref $request ? $json->encode($request) : $request);
    my ($status, $out, $err) = gguf_check("$build/penstock", 'render', @args,
        '--json', $file);
    return { error => $err, status => $status >> 8 } if $status;
    return $json->decode($out);
}

# A tiny model; skips the test file where mkmodel cannot run. Every model has
# a folder of its own.
sub model {
    my ($name, @args) = @_;
    my $node = -x 't/js/node_modules/.bin/node' ? 't/js/node_modules/.bin/node'
        : (grep { -x } map { "$_/node" } split /:/, $ENV{PATH})[0];
    Test::More::plan(skip_all => 'no node on this machine') unless $node;
    local $ENV{NODE} = $node;
    mkdir "$tmp/$name";
    my $file = "$tmp/$name/$name.gguf";
    my ($status, $out, $err) = gguf_check('contrib/mkmodel', qw(--layers 1
        --width 64 --heads 2 --kv-heads 1 --ff 64 --vocab synthetic:400),
        @args, '-o', $file);
    die "mkmodel: $err" if $status;
    return $file;
}

# How often each of these ids is in a list.
sub count {
    my ($ids, @of) = @_;
    my %n;
    $n{$_}++ for @$ids;
    return join ' ', map { $n{$_} // 0 } @of;
}

1;
