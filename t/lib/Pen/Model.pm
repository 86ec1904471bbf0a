# Pen::Model - a model that takes its time, made for one test.
#
#   my $d = Pen::Daemon->start(model => Pen::Model::slow(), ...);
#
# Random weights, a window of 8,192 tokens, no chat format: completions only.
# About 250 tokens a second on one core of 2026; under sanitizers the model is
# smaller. The test is skipped without node. Also bodies for it:
#
#   Pen::Model::ask('Count:', 100)              # hash, streamed
#   Pen::Model::text($h->stream(...)->lines(60))# the text of its lines
package Pen::Model;
use strict;
use warnings;
use File::Temp qw(tempdir);
use JSON::PP ();
use Test::More ();

my $dir;

sub slow {
    my $node = -x 't/js/node_modules/.bin/node' ? 't/js/node_modules/.bin/node'
        : (grep { -x } map { "$_/node" } split /:/, $ENV{PATH})[0];
    Test::More::plan(skip_all => 'no node on this machine') unless $node;
    local $ENV{NODE} = $node;
    $dir //= tempdir('pmodel-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    my @size = $ENV{PENSTOCK_SANITIZER} ? (qw(--layers 2 --width 256))
        : (qw(--layers 6 --width 512 --heads 8));
    system('contrib/mkmodel', @size, qw(--kv-heads 2 --ctx 8192),
        qw(--vocab synthetic:2000 -o), "$dir/slow.gguf") == 0
        or die 'contrib/mkmodel failed';
    return "$dir/slow.gguf";
}

# Sampled with a seed (greedy, random weights soon go in circles, and the
# pattern guard ends that) and without the control tokens, which are the
# vocabulary's last: to the last of its tokens. More fields win.
sub ask {
    my ($prompt, $n, %more) = @_;
    return { prompt => $prompt, max_tokens => $n, temperature => 1,
        seed => 1,
        stream => JSON::PP::true,
        logit_bias => { map { $_ => -100 } 1990 .. 1999 }, %more };
}

sub text {
    return join '', map {
        my ($json) = $_->[1] =~ /^data: (\{.*)/;
        my $c = $json && JSON::PP->new->utf8->decode($json)->{choices};
        $c && @$c ? $c->[0]{text} // '' : ();
    } @_;
}

1;
