# A stored conversation, gone on with by previous_response_id, is the prompt and
# the text of the same conversation sent whole: on the real demo model, with
# reasoning, with calls and their results, with instructions that change, over a
# restart, and by references to single items.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Case;
use Pen::Daemon;
use Pen::Parts;
use Pen::Shell;

need_demo();
my $json = JSON::PP->new->canonical;
my @args = (args => { threads => 1, 'responses-keep' => 1, context => 4096 });
my $d = Pen::Daemon->start(@args);
my @tools = map { { type => 'function', name => $_, parameters => {
    type => 'object', additionalProperties => $no, required => ['city'],
    properties => { city => { type => 'string' } } } } } 'get_weather', 'get_map';

sub ask {
    my ($name, %body) = @_;
    my $p = responses($d, temperature => 0, %body);
    is "$p->{status} $p->{bad}", '200 ', $name or diag $p->{raw};
    return $p;
}

# The same turn in both ways; what was asked and answered so far grows.
my (@all, $last);
sub turn {
    my ($name, $input, %body) = @_;
    my @input = ref $input ? @$input
        : { role => 'user', content => $input };
    my $by_hand = ask("$name, whole", %body, store => $no,
        input => [ @all, @input ]);
    for my $stream ($no, $yes) {
        my $p = ask("$name, gone on with", %body, input => $input,
            stream => $stream, $last ? (previous_response_id => $last) : ());
        is $p->{prompt}, $by_hand->{prompt}, "$name: one prompt";
        is_deeply [ $p->{parts}, $p->{end} ],
            [ $by_hand->{parts}, $by_hand->{end} ], "$name: one text"
            or diag $json->encode([ $p->{parts}, $by_hand->{parts} ]);
        is $p->{object}{store}, $yes, "$name: it is stored";
        $by_hand->{next} = $p;
    }
    my $p = $by_hand->{next}; # its calls have ids that results name
    push @all, @input, @{ $p->{object}{output} };
    $last = $p->{object}{id};
    return $p;
}

my $p = turn('a question', 'What is the capital of France?');
ok length $p->{reasoning}, 'with reasoning';
turn('another', 'And of Spain?', instructions => 'Be short.');
turn('without reasoning', 'Are you sure? żółw 漢',
    reasoning => { effort => 'none' }, instructions => 'Be long.');
$p = turn('a call', 'What is the weather in Paris?', tools => \@tools,
    tool_choice => 'required');
my ($call) = grep { $_->{type} eq 'function_call' } @{ $p->{object}{output} };
ok $call, 'it calls' or BAIL_OUT($p->{raw});
is $d->stop, 0, 'the daemon ends with 0';
$d = Pen::Daemon->spawn(bin => $d->{bin}, dir => $d->{dir},
    Pen::Daemon::with_model(@args));
$p = turn('its result, after a restart', [ { type => 'function_call_output',
    call_id => $call->{call_id}, output => "sunny <|im_end|>\n" } ],
    tools => \@tools);
turn('a forced form', 'Which city?', text => { format => { type =>
    'json_schema', name => 'x', schema => { type => 'object', required =>
        ['city'], properties => { city => { enum => [ 'Paris', 'Rome' ] } },
        additionalProperties => $no } } });

# --- by references -----------------------------------------------------------
my @refs = map { $_->{role} || $_->{type} =~ /output$/ ? $_
    : { type => 'item_reference', id => $_->{id} } } @all;
@refs = map { ($_->{role} // '') eq 'assistant'
    ? { type => 'item_reference', id => $_->{id} } : $_ } @refs;
cmp_ok scalar(grep { ($_->{type} // '') eq 'item_reference' } @refs), '>', 5,
    'the model\'s own items, by their ids';
my %more = (input => [ @refs, { role => 'user', content => 'So?' } ],
    tools => \@tools, store => $no);
my $by_ref = ask('by references', %more);
$p = ask('the same, whole', %more, input => [ @all, { role => 'user',
    content => 'So?' } ]);
is_deeply [ @$by_ref{qw(prompt parts end)} ], [ @$p{qw(prompt parts end)} ],
    'one prompt, one text';
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
