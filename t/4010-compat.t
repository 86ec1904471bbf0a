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
my @bodies = qw(chat completions responses messages);
my %got;
for my $row (@{ decode_json($json)->{fields} }) {
    # a field whose rule differs between the bodies has two rows
    my @wires = grep { defined $row->{$_} } @bodies;
    for my $wire (@wires) {
        ok(!$got{"$row->{field} $wire"}, "$row->{field}: one rule in $wire");
        $got{"$row->{field} $wire"} = $row->{$wire};
    }
    ok(@wires > 0, "$row->{field} is a field of some body");
    ok(length($row->{accepted} // ''), "$row->{field} says what it accepts");
}

open my $in, '<', 't/data/api/compat.tsv' or die "compat.tsv: $!";
my (%want, %field);
while (<$in>) {
    next if /^#/ || !/\S/;
    chomp;
    my ($field, @uses) = split /\t/;
    $field{$field} = 1;
    is(scalar @uses, scalar @bodies, "$field has a rule for each body");
    for my $i (0 .. $#bodies) {
        $want{"$field $bodies[$i]"} = $uses[$i] if $uses[$i] ne '-';
    }
}
is_deeply(\%got, \%want, 'every field of every body, no more and no less');
cmp_ok(scalar(keys %field), '>=', 60, 'at least 60 fields');

# Their own client knows every field of OpenAI's reference.
SKIP: {
    my $types = 't/js/node_modules/openai/resources';
    skip 'the openai package is not installed (t/js/install.sh)', 1
        unless -d $types;
    for ([ 'chat/completions/completions.d.ts',
            'ChatCompletionCreateParamsBase', 'chat' ],
        [ 'completions.d.ts', 'CompletionCreateParamsBase', 'completions' ],
        [ 'responses/responses.d.ts', 'ResponseCreateParamsBase',
            'responses' ],
        [ 'responses/input-tokens.d.ts', 'InputTokenCountParams',
            'responses' ]) {
        my ($file, $interface, $wire) = @$_;
        open my $d, '<', "$types/$file" or die "$file: $!";
        my ($members) = join('', <$d>)
            =~ /^export interface $interface \{\n(.*?)^\}/ms;
        my @fields = ($members // '') =~ /^    (\w+)\??:/mg;
        cmp_ok(scalar @fields, '>', 10, "fields of $wire");
        is(join(' ', grep { !$want{"$_ $wire"} } @fields), '',
            "every field of OpenAI's $wire has a row");
    }
}

# And so does Anthropic's, of its beta interface too.
SKIP: {
    my $types = 't/js/node_modules/@anthropic-ai/sdk/resources';
    skip 'the Anthropic package is not installed (t/js/install.sh)', 1
        unless -d $types;
    for my $file ('messages/messages.d.ts', 'beta/messages/messages.d.ts') {
        open my $d, '<', "$types/$file" or die "$file: $!";
        my $text = join '', <$d>;
        for my $interface (qw(MessageCreateParamsBase
            MessageCountTokensParams)) {
            my ($members) = $text
                =~ /^export interface $interface \{\n(.*?)^\}/ms;
            my @fields = ($members // '') =~ /^    (\w+)\??:/mg;
            cmp_ok(scalar @fields, '>', 8, "fields of $interface, $file");
            is(join(' ', grep { !$want{"$_ messages"} } @fields), '',
                "every field of $interface in $file has a row");
        }
    }
}

SKIP: {
    skip 'no /dev/full here', 2 unless -c '/dev/full';
    my $said = qx{$build/penstock compat --json 2>&1 >/dev/full};
    is($? >> 8, 1, 'a full disk is a failure');
    like($said, qr/standard output/, 'and is named');
}

my $text = qx{$build/penstock compat};
like($text, qr/^\Q$_\E\s/m, "$_ is in the printed table") for sort keys %field;
qx{$build/penstock compat extra 2>&1};
is($? >> 8, 2, 'an argument is a usage error');
done_testing();
