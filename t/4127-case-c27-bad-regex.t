# Case C27: a bad regex or schema is a 400 before queueing that names field and
# part; a request that runs at that time writes the same text as alone.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Beside;
use Pen::Case;
use Pen::Daemon;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my $alone = Pen::Beside->start($d)->text;
like $alone, qr/^200 length .*\w/s, 'a long request, alone';
my $pid = $d->{pid};

sub regex { return (structured_outputs => { regex => $_[0] }) }
sub schema {
    my ($properties) = @_;
    return { type => 'object', properties => $properties };
}
my $foo = schema({ foo => 'bar' });
my @bad = (
    # fields, param, what the message names
    [ { regex('foo**') }, 'structured_outputs.regex', qr/\b4\b/ ],
    [ { regex('([') }, 'structured_outputs.regex', qr/\b[12]\b/ ],
    [ { regex('a{3,1}') }, 'structured_outputs.regex', qr/\{|\b[13]\b/ ],
    [ { regex('(?<=x)y') }, 'structured_outputs.regex', qr/look/i ],
    [ { regex('(a)\\1') }, 'structured_outputs.regex', qr/back ?reference/i ],
    [ { structured_outputs => { json => $foo } }, 'structured_outputs.json',
        qr{\#/properties/foo} ],
    [ { response_format => { type => 'json_schema', json_schema => {
            name => 'x', schema => $foo } } },
        'response_format.json_schema.schema', qr{\#/properties/foo} ],
    [ { tools => [ { type => 'function', function => { name => 'f',
            parameters => $foo } } ], tool_choice => 'required' },
        'tools[0].function.parameters', qr{\#/properties/foo} ],
    [ { response_format => { type => 'json_schema', json_schema => {
            name => 'x', schema => schema({ a => { type => 'string',
                pattern => 'foo**' } }) } } },
        'response_format.json_schema.schema',
        qr{pattern at \#/properties/a} ],
);
my $long = Pen::Beside->start($d);
for my $c (@bad) {
    my ($fields, $param, $names) = @$c;
    my $r = chat($d, %$fields);
    my $e = error($r);
    my $name = JSON::PP->new->canonical->encode($fields);
    is "$r->{status} " . ($e->{param} // 'null'), "400 $param", $name;
    is $e->{type}, 'invalid_request_error', 'its type';
    like $e->{message}, $names, 'the message names the part';
    unlike $e->{message}, qr/foo\*\*|\(\?<=x\)y/, 'and repeats no pattern';
}
ok $long->runs, 'a request ran all the while';
is $long->text, $alone, 'and wrote what it writes alone';
ok $d->alive && $d->{pid} == $pid, 'the same process';
my @rows = $d->wait_rows('status = 400', scalar @bad);
is scalar @rows, scalar @bad, 'a row for each';
is_deeply [ grep { $_->{completion_tokens} } @rows ], [],
    'none came to the engine';
like whole(chat($d, regex('(red|green)')))->{text}, qr/^(?:red|green)\z/,
    'a good one is served';
unlike $d->log, qr/foo|\(\?</, 'nothing of a pattern is in the log';
is $d->stop, 0, 'ends well';
done_testing;
