package Pen::Renderings;
# Chat templates rendered by t/unit/jinja_tool, and what oracles expect.
use strict;
use warnings;
use Encode 'encode_utf8';
use Exporter 'import';
use JSON::PP;
our @EXPORT_OK = qw(read_json render compare map_of);

my $json = JSON::PP->new->utf8;

sub read_json {
    my ($file) = @_;
    open my $in, '<:raw', $file or die "$file: $!\n";
    local $/;
    return $json->decode(scalar <$in>);
}

# The tool's documents, in the order of the templates.
sub render {
    my ($tool, $now, $contexts, @templates) = @_;
    local $ENV{TZ} = 'UTC';
    open my $in, '-|', $tool, $now, $contexts, @templates
        or die "$tool: $!\n";
    my @out = map { $json->decode($_) } <$in>;
    close $in or die "$tool failed\n";
    return @out;
}

# (number that agree, list of complaints) for one template. An expectation is
# a text, or {raises} or {jinja2 => TEXT} or {left_out => REASON}.
sub compare {
    my ($got, $want) = @_;
    return 0, "line $got->{where}: $got->{compile}" if $got->{compile};
    my ($good, @bad) = 0;
    for my $name (sort keys %$want) {
        my ($w, $g) = ($want->{$name}, $got->{$name});
        next if ref $w && $w->{left_out};
        $w = $w->{jinja2} if ref $w;
        if (!defined $g) {
            push @bad, "$name: no answer";
        } elsif (!defined $w) {
            $g->{error} ? $good++ : push @bad, "$name: should have failed";
        } elsif ($g->{error}) {
            push @bad, "$name: $g->{where}: $g->{error}";
        } elsif ($g->{text} ne $w) {
            push @bad, "$name: " . difference($w, $g->{text});
        } else {
            $good++;
        }
    }
    return $good, @bad;
}

sub difference {
    my ($want, $got) = @_;
    my $same = ($want ^ $got) =~ /^(\0*)/ ? length $1 : 0;
    my $from = $same < 30 ? 0 : $same - 30;
    return "at character $same\n  expected " .
        $json->allow_nonref->encode(substr $want, $from, 90) .
        "\n  got      " . $json->encode(substr $got, $from, 90);
}

# The text as bytes, and a string with a 1 for every byte that the template
# wrote and a 0 for every other.
sub map_of {
    my ($rendering) = @_;
    my $bytes = encode_utf8($rendering->{text});
    my $map = '0' x length $bytes;
    my @ranges = @{ $rendering->{markup} };
    while (my ($from, $to) = splice @ranges, 0, 2) {
        substr($map, $from, $to - $from) = '1' x ($to - $from);
    }
    return $bytes, $map;
}

1;
