# Case C24: non-ASCII arguments are the same bytes streamed and whole, once.
# The tokens come from a script, so that every form is written; tool_choice
# naming the function is in t/4310-tool-choice.t.
use strict;
use warnings;
use lib 't/lib';
use utf8;
use Test::More;
use Encode 'encode_utf8';
use JSON::PP;
use Pen::Calls;
use Pen::Daemon;

plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my $city = 'Münster 漢 😀';
for my $form (
    [ 'XML', "<function=f>\n<parameter=city>\n$city\n</parameter>\n"
        . '</function>' ],
    [ 'JSON', qq({"name": "f", "arguments": {"city": "$city"}}) ],
    [ 'escaped JSON', '{"name": "f", "arguments": {"city": '
        . '"M\u00fcnster \u6f22 \ud83d\ude00"}}' ]) {
    my $d = Pen::Daemon->scripted(env => { PENSTOCK_SCRIPT_MARKUP => 1,
        PENSTOCK_GAP_US => 1000, PENSTOCK_SCRIPT => encode_utf8(
            "<tool_call>\n$form->[1]\n</tool_call><|im_end|>") });
    my %tools = (tools => [ function('f', city => { const => $city }) ]);
    my ($s, $w) = (streamed($d, %tools), whole($d, %tools));
    is $s->{bad}, '', "$form->[0]: a proper stream";
    is_deeply [ map { JSON::PP->new->decode($_->{arguments}) }
        @{ $s->{calls} } ], [ { city => $city } ], 'one document, its value';
    is_deeply [ map { $_->{arguments} } @{ $w->{calls} } ],
        [ map { $_->{arguments} } @{ $s->{calls} } ], 'the same bytes whole';
    is $d->stop, 0, 'ends well';
}
done_testing;
