# POST /v1/messages/count_tokens: the tokens that a request with this body has
# in its prompt, without one being generated or noted.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Daemon;
use Pen::Fcgi;

plan skip_all => 'no penstockd: make first'
    unless -x Pen::Daemon::build() . '/penstockd';
plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my $json = JSON::PP->new->utf8->canonical;
my $d = Pen::Daemon->start(args => { thinking => 'off', threads => 1 });

sub ask {
    my ($uri, $body, %params) = @_;
    return Pen::Fcgi->request($d->{socket}, method => 'POST', uri => $uri,
        timeout => 60, params => \%params,
        body => ref $body ? $json->encode($body) : $body);
}
sub count { ask('/v1/messages/count_tokens', @_) }

my $hi = { role => 'user', content => 'Hi' };
my $long = { role => 'user', content => 'word ' x 9000 };
my @tool = ({ name => 'f', description => 'Finds.',
    input_schema => { type => 'object' } });
for my $body (
    { messages => [$hi] },
    { messages => [$hi], system => 'Be brief.' },
    { messages => [$hi], tools => \@tool },
    { messages => [$hi], thinking => { type => 'adaptive' } },
    { messages => [ $hi, { role => 'assistant', content => [
        { type => 'thinking', thinking => 'a greeting', signature => '' },
        { type => 'tool_use', id => 'c', name => 'f', input => { a => 1 } },
    ] }, { role => 'user', content => [ { type => 'tool_result',
        tool_use_id => 'c', content => '42' },
        { type => 'text', text => 'So?' } ] } ], tools => \@tool }) {
    my $name = join ', ', map { "$_: " . scalar @{ $body->{$_} } }
        grep { ref $body->{$_} eq 'ARRAY' } sort keys %$body;
    my $n = $json->decode(count($body)->{body});
    my $usage = $json->decode(ask('/v1/messages',
        { %$body, max_tokens => 1 })->{body})->{usage};
    is_deeply $n, { input_tokens => $usage->{input_tokens}
        + $usage->{cache_read_input_tokens} }, $name;
}

my $r = count({ messages => [$long] });
cmp_ok $json->decode($r->{body})->{input_tokens}, '>', 9000,
    'a prompt that leaves no room is counted';
is ask('/v1/messages', { messages => [$long], max_tokens => 1 })->{status},
    400, 'though it is not answered';
$r = count({ messages => [$hi], tools => [ @tool,
    { type => 'web_search_20250305', name => 'web_search' } ] });
is $r->{headers}{'x-skipped-tools'}, 'web_search_20250305',
    'a tool that is left out';
is $r->{headers}{'request-id'}, $r->{headers}{'x-request-id'}, 'its id';

for (['', 400, 'the body is empty'], [{}, 400, 'messages: is missing'],
    [{ messages => [] }, 400, 'messages: must not be empty'],
    [{ messages => [$hi], max_tokens => 0 }, 400, 'max_tokens: '],
    [{ messages => [$hi], model => 'other' }, 404, 'model: '],
    [{ messages => [ { role => 'user', content => [
        { type => 'image', source => { type => 'url' } } ] } ] }, 400,
        'messages[0].content[0].type: ']) {
    my ($body, $status, $text) = @$_;
    $r = count($body);
    my $o = $json->decode($r->{body});
    is "$r->{status} $o->{type}", "$status error", "refused: $text";
    is index($o->{error}{message}, $text), 0, 'by its field'
        or diag $r->{body};
}
is count({ messages => [$hi] }, REMOTE_ADDR => '192.0.2.1')->{status}, 401,
    'it needs a key';
is $d->stop, 0, 'the daemon ends with 0';

# a row for each that was refused, and no other
my $rows = qx{${\ Pen::Daemon::build() }/penstock ledger --limit 99 --db '$d->{db}' --json};
my %by;
$by{"$_->{endpoint} $_->{finish_reason}"}++
    for eval { @{ $json->decode($rows)->{requests} } };
is $by{'count_tokens refused'} // 0, 7, 'refused counts are in the ledger'
    or diag $rows;
is scalar(grep { /^count_tokens/ && !/refused/ } keys %by), 0,
    'those that were answered are not';
done_testing;
