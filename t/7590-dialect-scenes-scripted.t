# What both official packages see of Responses and Messages where the engine
# is scripted: comment lines in a stream, an engine that fails in
# the middle, an answer with every kind of part in wide characters, at once
# and token by token.
use strict;
use warnings;
use utf8;
use lib 't/lib';
use Test::More;
use Encode qw(encode_utf8);
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
delete $ENV{$_} for grep { /^ANTHROPIC_/ } keys %ENV;
my $ten = 'one two three four five six seven eight nine ten';

# Types are judged once for each scene, and not where there is only text.
my %judged = (heartbeats => 1);
sub scene {
    my ($scene, $says, $env, %args) = @_;
    my $d = Pen::Daemon->scripted(args => \%args, env => $env);
    my $site = Pen::Nginx->start(socket => $d->{socket});
    local @ENV{qw(PEN_SCENE PEN_SAYS)} = ($scene, encode_utf8($says));
    for my $h2 (0, 1) {
        local $ENV{PEN_UNTYPED} = $h2 || $judged{$scene}++ ? 1 : 0;
        Pen::Js::run('dialect-scenes.mjs', site => $site, h2 => $h2);
    }
    is $d->stop, 0, "$scene: the daemon ends with 0";
}

scene('heartbeats', $ten, { PENSTOCK_PREFILL_US => 500_000 },
    'prefill-line-ms' => 50, 'wait-line-ms' => 50);
scene('failure', $ten, { PENSTOCK_FAIL_AFTER => 4, PENSTOCK_GAP_US => 1000 });
my $call = "<tool_call>\n<function=f>\n<parameter=city>\n%s\n</parameter>\n"
    . "</function>\n</tool_call>";
my $said = 'Zürich says 漢字 🚀.';
my $script = "Hm, naïve 🤔.</think>\n\n$said"
    . join("\n", map { sprintf $call, $_ } 'Łódź 🚀', '東京') . '<|im_end|>';
for my $gap (0, 500) {
    scene('parts', $said, { PENSTOCK_SCRIPT => encode_utf8($script),
        PENSTOCK_SCRIPT_MARKUP => 1, PENSTOCK_GAP_US => $gap });
}

my $d = Pen::Daemon->scripted(args => { 'drain-timeout' => 0, parallel => 2 },
    env => { PENSTOCK_SCRIPT_LOOP => 1, PENSTOCK_GAP_US => 2000 });
my $site = Pen::Nginx->start(socket => $d->{socket});
local $ENV{PEN_SCENE} = 'drain';
my $js = Pen::Js::start('dialect-scenes.mjs', site => $site, h2 => 1);
ok $d->wait_load(2, 0, 60), 'drain: both streams run';
is $d->stop, 0, 'drain: the daemon ends with 0';
$js->finish;
done_testing;
