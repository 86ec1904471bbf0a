# Case C29: with thinking and a JSON schema the reasoning is free text in its
# field, and the answer alone, JSON of the schema, is in content; streamed and
# whole, on the demo model.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;

need_demo();
my $json = JSON::PP->new->canonical;
my $d = Pen::Daemon->start(args => { thinking => 'on' });
my $schema = { type => 'object', required => ['answer'],
    properties => { answer => { type => 'string', maxLength => 40 } },
    additionalProperties => $no };
my %shape = (json_schema => { response_format => { type => 'json_schema',
            json_schema => { name => 'sum', schema => $schema } } },
    json_object => { response_format => { type => 'json_object' } },
    'structured_outputs.json' => { structured_outputs => { json => $schema } },
    'structured_outputs.regex' => { structured_outputs =>
            { regex => '\{"answer":"[0-9]{1,9}"\}' } });
my $asked = 0;

for my $question ('2 + 3', 'What is the capital of France?',
    'Give me JSON with answer: 5') {
    my %ask = (messages => [ { role => 'user', content => $question } ],
        max_tokens => 400);
    my $free = whole(chat($d, %ask));
    isnt $free->{reasoning}, '', "$question: the model thinks";
    for my $name (sort keys %shape) {
        my $w = whole(chat($d, %ask, %{ $shape{$name} }));
        my $s = joined(chat($d, %ask, %{ $shape{$name} }, stream => $yes));
        is $s->{bad}, '', "$name: a stream";
        is $s->{$_}, $w->{$_}, "streamed and whole, the same $_"
            for qw(reasoning text finish);
        is $w->{reasoning}, $free->{reasoning},
            'the reasoning is what it is without a schema';
        unlike $w->{text}, qr/<\/?think/, 'no tag in content';
        # an object without bounds may run into the token limit
        next if $w->{finish} ne 'stop' && $name eq 'json_object';
        is $w->{finish}, 'stop', 'a whole answer';
        my $v = eval { $json->decode($w->{text}) };
        is ref $v, 'HASH', 'JSON alone in content' or diag $w->{text};
        next if $name eq 'json_object';
        is join(',', keys %$v), 'answer', 'of the schema';
        $asked++;
    }
}
is $asked, 9, 'each shape was seen';

# thinking off, and thoughts that the budget ends
for my $more ([ thinking => $no ], [ max_reasoning_tokens => 3 ]) {
    my $w = whole(chat($d, max_tokens => 200, %{ $shape{json_schema} },
        @$more));
    my $v = eval { $json->decode($w->{text}) } // {};
    is join(',', keys %$v), 'answer', "@$more: JSON in content"
        or diag $w->{text};
    is $w->{reasoning} eq '', $more->[0] eq 'thinking', 'thoughts as asked';
}
is $d->stop, 0, 'ends well';
done_testing;
