# Folders are layers: the include rule holds, and the checker notices breaches.
use strict;
use warnings;
use Test::More;
use File::Path qw(make_path);
use File::Temp qw(tempdir);

is `contrib/check-layers . 2>&1`, '', 'no folder includes a row above its own';

sub planted {
    my ($file, $line) = @_;
    my $dir = tempdir(CLEANUP => 1);
    make_path("$dir/$_") for qw(fcgi src kernels);
    (my $parent = "$dir/$file") =~ s{/[^/]+$}{};
    make_path($parent);
    open my $out, '>', "$dir/$file" or die $!;
    print $out "$line\n";
    close $out;
    return `contrib/check-layers $dir 2>&1`;
}
like planted('src/base/x.c', '#include "json/read.h"'), qr/row 0 includes/,
    'the base layer may not include JSON';
like planted('src/engine/x.c', '#include "text/tok.h"'), qr/never includes/,
    'the engine may not include the tokenizer';
like planted('src/text/x.c', '#include "gguf/gguf.h"'), qr/row 1 includes/,
    'neighbours of a row do not include each other';
like planted('src/chat/x.c', '#include <sqlite3.h>'), qr/belongs to src\/db/,
    'SQLite belongs to one folder';
like planted('src/newdir/x.c', '#include "base/err.h"'), qr/has no row/,
    'a new folder needs a row';
is planted('src/engine/x.c', '#include "kernels/kernels.h"'), '',
    'a lower row may be included';
done_testing;
