# docs/structured-outputs.md: every example is tried with penstock grammar or a
# daemon, its keywords are those of src/gram/schema_words.c, its numbers those
# of the headers.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;
use Pen::Grammar;

need_demo();
need_penstock();
my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $page = Pen::Grammar::slurp('docs/structured-outputs.md');

# The body rows of all tables with that header: lists of cells.
sub rows {
    my ($head) = @_;
    my ($table, @body);
    for my $line (split /\n/, $page) {
        if ($line !~ /^\| (.*) \|$/) {
            $table = undef;
        } elsif (!defined $table) {
            $table = $1 =~ tr/`//dr;
        } elsif ($1 !~ /^[ |-]+$/ && $table eq $head) {
            push @body, [ map { s/^\s+|\s+$//gr =~ s/\\\|/|/gr }
                split /(?<!\\)\|/, $1, -1 ];
        }
    }
    die "no table $head" unless @body;
    return @body;
}

# What stands in backquotes in a cell, a string per pair of them.
sub quoted { return $_[0] =~ /`([^`]*)`/g }

sub try_row {
    my ($kind, $grammar, $accepts, $rejects) = @_;
    for my $try ((map { [ 0, $_ ] } @$accepts), map { [ 1, $_ ] } @$rejects) {
        my ($status, $text) = @$try;
        my $r = grammar($kind, $grammar, accepts => $text);
        is $r->{status}, $status, "$grammar: $text: " . ($status ? 'no' : 'yes')
            or diag "$r->{out}$r->{err}";
    }
    return;
}

# --- keywords -----------------------------------------------------------------
my (%shown, %refused);
for my $row (rows('keyword | schema | accepts | does not')) {
    my ($word, $schema, @rest) = @$row;
    $shown{ (quoted($word))[0] } = 1;
    try_row(schema => quoted($schema), map { [ quoted($_) ] } @rest);
}
for my $row (rows('keyword | schema that is refused')) {
    my ($word, $schema) = map { (quoted($_))[0] } @$row;
    $refused{$word} = 1;
    my $r = grammar(schema => $schema, accepts => 'x');
    is $r->{status}, 3, "$schema is refused";
    my $named = $word =~ /^(?:then|else)$/ ? qr/(?:if|\Q$word\E) at #/
        : $word eq 'additionalItems' ? qr/(?:items|\Q$word\E) at #/
        : qr/\Q$word\E at #/;
    like $r->{err}, $named, 'by its name';
}
my %word;
my $code = Pen::Grammar::slurp('src/gram/schema_words.c');
$word{$2}{$1} = 1 while $code =~ /\{"([^"]+)", WORD_(\w+)/g;
delete $shown{dependencies}; # lists of names are, schemas are not
is_deeply \%shown, $word{READ}, 'the keywords that are supported';
is_deeply \%refused, $word{REFUSED}, 'and those that are not';
my ($says) = $page =~ /^Read and without effect on the answer: (.*?)\.\n\n/ms;
is_deeply { map { $_ => 1 } quoted($says) }, $word{SAYS}, 'and those that say';

# --- formats, regular expressions ---------------------------------------------
for my $row (rows('format | accepts | does not')) {
    my ($format, @rest) = map { [ quoted($_) ] } @$row;
    try_row(schema => $json->encode({ type => 'string',
        format => $format->[0] }), map { [ map { "\"$_\"" } @$_ ] } @rest);
}
my ($unchecked) = $page =~ /^Refused, for what they ask (.*?)\. Words/ms;
is grammar(schema => { format => $_ }, accepts => '1')->{status}, 3,
    "format $_ is refused" for quoted($unchecked);
$code = Pen::Grammar::slurp('src/gram/schema_format.c');
is_deeply [ sort(quoted($unchecked), map { quoted($_->[0]) }
    rows('format | accepts | does not')) ],
    [ sort $code =~ /^    \{"([a-z0-9-]+)", /mg ], 'all formats are told';
for my $row (rows('pattern | accepts | does not')) {
    my ($pattern, @rest) = map { [ quoted($_) ] } @$row;
    try_row(regex => $pattern->[0], @rest);
}
for my $row (rows('refused | as')) {
    my ($pattern) = quoted($row->[1]);
    my $r = grammar(regex => $pattern, accepts => 'x');
    is $r->{status}, 3, "$pattern is refused: $row->[0]";
}

# --- limits -------------------------------------------------------------------
for my $row (rows('limit | number | in')) {
    my ($file, $name) = quoted($row->[2]);
    my ($is) = Pen::Grammar::slurp($file)
        =~ /^#define \Q$name\E (\d+|\((?:\(size_t\))?\d+u? << 20\))/m;
    $is = $1 if $row->[1] =~ / MiB$/ && $is =~ /(\d+)u? << 20/;
    my ($told) = $row->[1] =~ tr/,//dr =~ /^(\d+)/;
    is $told, $is, "$row->[0] is $name";
}

# --- a daemon -----------------------------------------------------------------
my $d = Pen::Daemon->start(args => { thinking => 'off' });
sub with {
    return Pen::Fcgi->request($d->{socket}, timeout => 60,
        uri => '/v1/chat/completions', body => '{"messages":[{"role":"user",'
            . "\"content\":\"Hi\"}],\"max_tokens\":200,$_[0]}");
}
for my $row (rows('body member | the answer is')) {
    my ($members) = quoted($row->[0]);
    my $w = whole(with($members));
    is $w->{status}, 200, $members;
    like $w->{text}, $members =~ /choice/ ? qr/^(?:yes|no)\z/
        : $members =~ /regex/ ? qr/^\d{3}\z/
        : $members =~ /integer/ ? qr/^\s*-?\d+\s*\z/ : qr/^\s*\{/,
        $row->[1];
}
for my $row (rows('members of a body | param | the message names')) {
    my ($members, $param, $names) = map { (quoted($_))[0] } @$row;
    my $r = with($members);
    is "$r->{status} " . (error($r)->{param} // ''), "400 $param", $members;
    like error($r)->{message}, qr/\Q$names\E/, 'the message names it';
    is error($r)->{type}, 'invalid_request_error', 'its type';
}
is $d->stop, 0, 'ends well';
done_testing;
