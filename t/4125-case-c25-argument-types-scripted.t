# Case C25: argument types come from the schema. The tokens come from a
# script, in the XML form of the demo model; the texts are those of the report.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Calls;
use Pen::Daemon;

plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my %tools = (tools => [ function('f', zip => 'string', flag => 'string',
    offset => 'integer', ids => { type => 'array',
        items => { type => 'integer' } },
    limit => { anyOf => [ { type => 'integer' }, { type => 'null' } ] }) ]);

sub arguments_are {
    my ($values, $want, $name) = @_;
    my $call = join '', map { "<parameter=$_->[0]>\n$_->[1]\n</parameter>\n" }
        @$values;
    my $d = Pen::Daemon->scripted(env => { PENSTOCK_SCRIPT_MARKUP => 1,
        PENSTOCK_SCRIPT => "<tool_call>\n<function=f>\n$call</function>\n"
            . '</tool_call><|im_end|>' });
    for my $got (streamed($d, %tools), whole($d, %tools)) {
        is_deeply [ map { $_->{arguments} } @{ $got->{calls} } ], [$want],
            $name;
        is $got->{finish}, 'tool_calls', 'a call';
    }
    is $d->stop, 0, 'ends well';
    return;
}
arguments_are([ [ zip => '02134' ], [ flag => 'true' ], [ offset => '5.0' ],
    [ limit => '42' ], [ ids => '[1, 2]' ] ],
    '{"zip": "02134", "flag": "true", "offset": 5, "limit": 42, '
    . '"ids": [1, 2]}', 'typed by the schema');
arguments_are([ [ offset => 'soon' ] ], '{"offset": "soon"}',
    'what does not fit stays text, and the call stays');
arguments_are([ [ limit => '12345678901234567890' ] ],
    '{"limit": 12345678901234567890}', 'all digits are kept');
done_testing;
