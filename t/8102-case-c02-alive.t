# Case C02: sampling values far out of range against the daemon: 400 with a
# field that is out of range, no token, alive. (t/4102 has every limit.)
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;
use Pen::Daemon;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my @bad = (
    [ '"temperature":999999,"top_p":-1,"repetition_penalty":0',
        qw(temperature top_p repetition_penalty) ],
    [ '"temperature":999999', 'temperature' ], [ '"top_p":-1', 'top_p' ],
    [ '"repetition_penalty":0', 'repetition_penalty' ],
    [ '"temperature":1e400', 'temperature' ], [ '"top_k":-5', 'top_k' ],
    [ '"logit_bias":{"99999999":5}', 'logit_bias' ],
    [ '"logit_bias":{"3072":5}', 'logit_bias' ], # the first id there is not
    [ '"temperature":-1e-9', 'temperature' ],
    [ '"temperature":NaN', '' ], [ '"top_p":0', 'top_p' ],
    [ '"min_p":2', 'min_p' ], [ '"presence_penalty":-2.5', 'presence_penalty' ],
    [ '"frequency_penalty":1e308', 'frequency_penalty' ],
);
my $steps = $d->health->{steps};
for my $c (@bad) {
    my ($fields, @names) = @$c;
    for my $ask ([ '/v1/chat/completions',
            '"messages":[{"role":"user","content":"hi"}]' ],
        [ '/v1/completions', '"prompt":"hi"' ]) {
        my ($uri, $hi) = @$ask;
        my $r = Pen::Fcgi->request($d->{socket}, uri => $uri,
            body => "{$hi,$fields}", timeout => 60);
        my $e = error($r);
        is $r->{status}, 400, "$uri $fields: 400";
        is $e->{type}, 'invalid_request_error', 'type';
        my $param = $e->{param} // '';
        ok scalar(grep { $param =~ /^\Q$_\E(?:$|[.\[])/ || $param eq $_ } @names),
            "param '$param' is out of range";
    }
}
is_deeply $d->health->{steps}, $steps, 'no token was generated';
ok $d->alive, 'alive';
# the edges of the same ranges are served
for my $fine ([ temperature => 2, top_p => 1e-9 ], [ top_k => 0 ],
    [ repetition_penalty => 0.001 ], [ logit_bias => { 3071 => 5 } ],
    [ presence_penalty => -2, frequency_penalty => 2 ], [ min_p => 1 ]) {
    is whole(chat($d, max_tokens => 2, @$fine))->{status}, 200, "@$fine";
}
is $d->stop, 0, 'ends well';
done_testing;
