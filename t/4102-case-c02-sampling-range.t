# Case C02: sampling values far out of range are a 400 naming a field.
use strict;
use warnings;
use lib "t/lib";
use Test::More;
use Pen::Body;
use Pen::Daemon;
use Pen::Fcgi;

plan skip_all => "t/unit/api_body_error is not built" unless tool();

my %field = (
    temperature => [qw(999999 -1 2.1 1e400 "1" true [])],
    top_p => [qw(-1 0 1.1 1e400 "1")],
    top_k => [qw(-5 1.5 1e400 99999999999999999999)],
    min_p => [qw(-0.1 1.5)],
    repetition_penalty => [qw(0 -1 1e400)],
    presence_penalty => [qw(3 -3)],
    logit_bias => ['{"99999999999":5}', '{"-1":1}', '{"1":101}', '7'],
);
named(chat('"temperature":999999,"top_p":-1,"repetition_penalty":0'),
    'temperature', 'all three');
for my $f (sort keys %field) {
    named(chat(qq("$f":$_)), $f, "$f $_") for @{ $field{$f} };
}
named('{"prompt":"x","temperature":3}', 'temperature', 'completions',
    'completions');

# The vocabulary is known to a daemon only; after all of them it answers.
SKIP: {
    skip 'no demo model', 1 unless -r $Pen::Daemon::DEMO;
    my $d = Pen::Daemon->start(args => { thinking => 'off' });
    for my $bias ('{"99999999":5}', '{"5":1,"2147483647":-100}') {
        for my $ask ([ 'chat/completions', chat(qq("logit_bias":$bias)) ],
            [ completions => qq({"prompt":"x","logit_bias":$bias}) ]) {
            my $r = Pen::Fcgi->request($d->{socket}, uri => "/v1/$ask->[0]",
                body => $ask->[1]);
            is $r->{status}, 400, "$ask->[0]: $bias";
            like $r->{body}, qr/"param":"logit_bias"/, 'names its field';
        }
    }
    my $r = Pen::Fcgi->request($d->{socket}, uri => '/v1/chat/completions',
        timeout => 60, body => chat('"max_tokens":3,"logit_bias":{"5":-1}'));
    is $r->{status}, 200, 'a request of sense is answered';
    is $d->stop, 0, 'ends well';
}
done_testing();
