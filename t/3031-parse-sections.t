# Calls in the section of five tokens, read back from what published templates
# write: the renderings in t/data/chat/expected are an independent
# implementation's (see ORIGIN.md beside the templates), and one is our own.
use strict;
use warnings;
use utf8;
use lib 't/lib';
use Test::More;
use Pen::Render;

my $build = $ENV{BUILD} // 'build';
plan skip_all => "$build/penstock is not built" unless -x "$build/penstock";
my $data = 't/data/chat';
my $chars = JSON::PP->new->canonical; # of strings, not of bytes

sub slurp {
    my ($file) = @_;
    open my $in, '<:raw', $file or die "$file: $!";
    local $/;
    return json->decode(scalar <$in>);
}

sub function { return { type => 'function', function => { name => $_[0] } } }

# The message in a text, by tools that say nothing about types.
sub parse {
    my ($text, @names) = @_;
    my %once = map { $_ => 1 } @names;
    my $tools = scratch(json->encode([ map { function($_) } sort keys %once ]));
    utf8::encode($text);
    my $file = scratch($text);
    my $said = qx($build/penstock parse --format deepseek --tools $tools \\
        --json $file);
    die 'penstock parse' if $?;
    return json->decode($said)->{message};
}

sub calls {
    return [ map { my $f = $_->{function}; [ $f->{name},
        ref $f->{arguments} ? $f->{arguments}
                            : $chars->decode($f->{arguments}) ] } @_ ];
}

# What the assistant wrote, turn by turn: a section, and text before it where
# the template writes both in one turn. One of the templates begins only the
# first section of a conversation.
my $section = qr/(?:<｜tool▁calls▁begin｜>|(?<=\n)(?=<｜tool▁call▁begin｜>))
    .*?<｜tool▁calls▁end｜>/xs;
my ($read, $text) = (0, 0);
for my $name (qw(deepseek-ai-DeepSeek-V3.1
    deepseek-ai-DeepSeek-R1-Distill-Qwen-32B)) {
    my $want = slurp("$data/expected/$name.json")->{renderings};
    for my $c (@{ slurp("$data/conversations.json") }) {
        my $said = $want->{ $c->{name} };
        my @turns = grep { $_->{tool_calls} } @{ $c->{vars}{messages} };
        next if !@turns || !defined $said || ref $said;
        my @found = $said =~ /$section/g;
        is scalar @found, scalar @turns, "$name, $c->{name}: sections";
        for my $turn (@turns) {
            my $piece = shift @found;
            my @calls = @{ $turn->{tool_calls} };
            my $got = parse("So:$piece",
                map { $_->{function}{name} } @calls);
            # written as JSON in JSON, which is no object
            if (!ref $calls[0]{function}{arguments}) {
                is $got->{content}, "So:$piece", 'text stays';
                $text++;
                next;
            }
            is $got->{content}, 'So:', 'the text before it';
            is_deeply calls(@{ $got->{tool_calls} }), calls(@calls),
                'name and arguments';
            $read++;
        }
    }
}
cmp_ok $read, '>=', 20, "$read turns are read back";
cmp_ok $text, '>=', 2, 'and what is no object is not';

# The format of a template that offers tools, both ways.
my @calls = map { { id => $_->[0], type => 'function', function => { name => 'f',
    arguments => $chars->encode($_->[1]) } } } [ 'a1', { s => '{"', n => 1 } ],
    [ 'a2', { s => "R\x{f6}m ```\n" } ];
my $got = render({ tools => [ function('f') ], messages => [ user('go'),
    { role => 'assistant', content => undef, tool_calls => \@calls },
    (map { { role => 'tool', tool_call_id => $_, content => '7' } }
        qw(a1 a2)) ] }, '--chat', "$data/templates/llama-cpp-deepseek-r1.jinja");
is $got->{capabilities}{calls}, 'deepseek', 'the template names the form'
    or diag explain $got;
my $prompt = join '', map { $_->{text} } @{ $got->{segments} };
my ($turn) = $prompt =~ /<｜Assistant｜>(.*?)<｜end▁of▁sentence｜>/s;
$got = parse($turn, 'f');
is $got->{content}, undef, 'no text in it';
is_deeply calls(@{ $got->{tool_calls} }), calls(@calls), 'both calls';
done_testing;
