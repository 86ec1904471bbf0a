# What a published template writes for an assistant's turn with tool calls,
# the reply parser of its dialect reads back: names, argument values with
# their types, and the words before the calls. The turn is what rendering the
# conversation with it adds to the opened prompt without it.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use JSON::PP;

my $penstock = ($ENV{BUILD} // 'build') . '/penstock';
plan skip_all => "$penstock is missing" unless -x $penstock;

my $dir  = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->utf8->canonical;

my @tools = (
    { type => 'function', function => { name => 'write_file',
        description => 'Write a file.', parameters => { type => 'object',
            properties => {
                path => { type => 'string' }, text => { type => 'string' },
                mode => { type => 'integer' }, tags => { type => 'array' },
                deep => { type => 'object' }, sure => { type => 'boolean' },
            }, required => ['path'] } } },
    { type => 'function', function => { name => 'get_time',
        description => 'The time.',
        parameters => { type => 'object', properties => {} } } },
);
my %first = (path => 'a/b c.txt', mode => 420, tags => [1, 'two'],
    deep => { k => 'v' }, sure => JSON::PP::true,
    text => "say \"hi\" \\ to\n  <b>M\x{fc}nster</b> \x{6f22} \x{1f600}");

# name => [words, calls]
my %turns = (
    'one call'      => ['', [['write_file', \%first]]],
    'no arguments'  => ['', [['get_time', {}]]],
    'two calls'     => ['', [['write_file', \%first], ['get_time', {}]]],
    'words, a call' => ['I look.', [['write_file', { path => 'x' }]]],
);

sub put {
    my ($name, $value) = @_;
    open my $out, '>:raw', "$dir/$name" or die $!;
    print $out ref $value ? $json->encode($value) : $value;
    close $out;
    return "$dir/$name";
}

sub render {
    my ($template, %request) = @_;
    my $file = put('r.json', { tools => \@tools, %request });
    my $text = qx{$penstock render --json --format jinja --chat '$template' $file 2>$dir/err};
    return if $?;
    my $r = $json->decode($text);
    return (join('', map { $_->{text} } @{ $r->{segments} }), $r);
}

sub message {
    my ($words, $calls) = @_;
    my $i = 0;
    my @list = map {
        my ($name, $args) = @$_;
        +{ id => 'abcdefgh' . $i++, type => 'function',
            function => { name => $name, arguments => $json->encode($args) } }
    } @$calls;
    return { role => 'assistant', content => $words, tool_calls => \@list };
}

# The part of the template's text that the model would have written.
sub turn {
    my ($template, $words, $calls) = @_;
    my @ask = ({ role => 'user', content => 'do it' });
    my $m = message($words, $calls);
    my ($open) = render($template, messages => \@ask,
        chat_template_kwargs => { enable_thinking => JSON::PP::false });
    my ($whole) = render($template, messages => [@ask, $m],
        add_generation_prompt => JSON::PP::false,
        chat_template_kwargs => { enable_thinking => JSON::PP::false });
    return unless defined $open && defined $whole;
    # what both begin with, up to an empty think block that history leaves out
    my $n = 0;
    $n++ while $n < length $open && substr($open, $n, 1) eq substr($whole, $n, 1);
    my $rest = substr $open, $n;
    return unless $rest =~ /^\s*(?:<\/?think>\s*)*$/;
    my $reply = substr $whole, $n;
    $reply =~ s/^\s*(?:<think>\s*<\/think>\s*)?//;
    return $reply;
}

# Values as JSON text; numbers keep their kind.
sub canonical { JSON::PP->new->canonical->encode($_[0]) }

my $files = 0;
for my $template (sort glob 't/data/chat/templates/*.jinja') {
    (my $name = $template) =~ s{.*/(.*)\.jinja}{$1};
    my (undef, $r) = render($template, messages => [
            { role => 'user', content => 'do it' } ]);
    next unless $r && $r->{capabilities}{tools};
    my $dialect = $r->{capabilities}{calls} or next;
    # what is left for forms that have no dialect: JSON as the whole answer
    next if $dialect eq 'llama3';
    my $read = 0;
    for my $what (sort keys %turns) {
        my ($words, $calls) = @{ $turns{$what} };
        my $reply = turn($template, $words, $calls);
        if (!defined $reply) {
            note "$name: $what: its history does not continue its prompt";
            next;
        }
        # the end token has no text in a reply
        $reply =~ s/(?:<\|im_end\|>|<\/s>|<\|end\|>|<\|end_of_text\|>|<\|endoftext\|>|<\x{ff5c}end\x{2581}of\x{2581}sentence\x{ff5c}>|<\|user\|>|<\/assistant>|<\|call\|>)\s*$//;
        my $text = $reply;
        utf8::encode($text);
        my $file = put('reply.txt', $text);
        my $tools = put('tools.json', \@tools);
        my $got = $json->decode(scalar qx{$penstock parse --format $dialect --tools $tools --json $file})->{message};
        my @got = map { [$_->{function}{name},
            $json->decode($_->{function}{arguments})] }
            @{ $got->{tool_calls} // [] };
        is canonical(\@got), canonical($calls), "$name: $what ($dialect)"
            or diag $text;
        (my $said = $got->{content} // '') =~ s/\s+$//;
        # some templates leave words beside calls out
        is $said, index($text, $words) < 0 ? '' : $words,
            "$name: $what: the words";
        $read++;
    }
    $files++ if $read;
}
cmp_ok $files, '>=', 10, "$files templates write calls that are read back";
done_testing();
