# The field table is pinned: a row changes together with t/data/api/compat.tsv,
# which was checked row by row against the settled choices of the design.
use strict;
use warnings;
use Test::More;
use JSON::PP;

my $build = $ENV{BUILD} // 'build';
plan skip_all => "$build/penstock is not built" unless -x "$build/penstock";

my $json = qx{$build/penstock compat --json};
is($?, 0, 'penstock compat --json');
my %got = map { $_->{field} => $_ } @{ decode_json($json)->{fields} };

open my $in, '<', 't/data/api/compat.tsv' or die "compat.tsv: $!";
my %want;
while (<$in>) {
    next if /^#/ || !/\S/;
    chomp;
    my ($field, $chat, $completions) = split /\t/;
    $want{$field} = 1;
    my $row = $got{$field} // {};
    is($row->{chat} // '-', $chat, "$field in chat");
    is($row->{completions} // '-', $completions, "$field in completions");
    ok(length($row->{accepted} // ''), "$field says what it accepts");
}
is_deeply([sort keys %got], [sort keys %want], 'no field more or less');

SKIP: {
    skip 'no /dev/full here', 2 unless -c '/dev/full';
    my $said = qx{$build/penstock compat --json 2>&1 >/dev/full};
    is($? >> 8, 1, 'a full disk is a failure');
    like($said, qr/standard output/, 'and is named');
}

my $text = qx{$build/penstock compat};
like($text, qr/^\Q$_\E\s/m, "$_ is in the printed table") for sort keys %want;
qx{$build/penstock compat extra 2>&1};
is($? >> 8, 2, 'an argument is a usage error');
done_testing();
