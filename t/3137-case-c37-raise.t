# Case C37: a template that insists on alternating roles. Neighbours of one
# role are joined (docs/api.md); what still does not fit is a 400 that names
# the message. Never a 500, never the template's source.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Render;

my $build = Pen::Daemon::build();
plan skip_all => 'no penstockd: make first' unless -x "$build/penstockd";
my $file = model('strict', qw(--control [INST] --control [/INST] --control <s>
    --control </s> --bos <s> --eos </s> --template),
    't/data/chat/toy/alternating.jinja');

sub roles { map { { role => $_, content => "say $_" } } @_ }
sub text { join '', map { $_->{text} } @{ render({ messages => [ @_ ] },
    '-m', $file)->{segments} } }
is text(roles(qw(system user user))), "<s>[INST] say system\n\nsay user\n\n"
    . 'say user [/INST]', 'C37: two questions become one';
is text(roles(qw(user assistant assistant user))), '<s>[INST] say user [/INST]'
    . " say assistant\n\nsay assistant</s>[INST] say user [/INST]",
    'C37: so do two answers';

my $d = Pen::Daemon->start(model => $file);
my $ask = sub {
    my $r = Pen::Fcgi->request($d->{socket}, timeout => 60,
        uri => '/v1/chat/completions', body => json->encode({
            max_tokens => 1, messages => [ @_ ] }));
    return ($r->{status}, json->decode($r->{body})->{error}, $r->{body});
};
is +($ask->(roles(qw(system user user))))[0], 200, 'C37: user, user';
is +($ask->(roles(qw(user assistant assistant user))))[0], 200,
    'C37: assistant, assistant';
my $call = { id => 'c', type => 'function',
    function => { name => 'f', arguments => '{}' } };
for (
    [ 'messages[2].tool_calls', (roles(qw(system user))), { role => 'assistant',
        tool_calls => [ $call ] }, roles('user') ],
    [ 'messages[0].role', roles(qw(assistant user)) ],
    [ 'messages[1].role', roles(qw(system assistant user)) ],
) {
    my ($param, @messages) = @$_;
    my ($status, $e, $body) = $ask->(@messages);
    is $status, 400, 'C37: what does not fit is the caller\'s';
    is $e->{param}, $param, 'and names the message';
    unlike $body, qr/\{%|\{\{|raise_exception|say /, 'without any source';
}
is $d->stop, 0, 'ends well';
done_testing;
