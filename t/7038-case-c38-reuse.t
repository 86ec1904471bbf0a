# C38 on a plain model: a chat of three turns, then one turn more, an edit in
# its middle and an edit at its end. Every text is what a fresh process writes,
# and cached_tokens is exact: never above what the prompts have in common, and
# all of it where it was computed before. Through the daemon's own prompts
# (`penstock render`). No recurrent model runs here yet: reuse up to a stored
# state before the edit is in t/unit/kv_tree (need_state).
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempdir);
use JSON::PP;
use Pen::Daemon;
use Pen::Http;

my $build = Pen::Daemon::build();
plan skip_all => 'no penstockd' unless -x "$build/penstockd";
my $dir = tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1);
my $uri = '/v1/chat/completions';

sub body { # user and assistant in turns
    my @text = @_;
    return { max_tokens => 24, temperature => 0, reasoning_effort => 'none',
        messages => [ map { { role => $_ % 2 ? 'assistant' : 'user',
            content => $text[$_] } } 0 .. $#text ] };
}

sub ask {
    my ($d, $body) = @_;
    my $r = Pen::Fcgi->request($d->{socket}, uri => $uri,
        body => Pen::Http::json($body), timeout => 120);
    is $r->{status}, 200, 'served';
    my $j = decode_json($r->{body});
    return { text => $j->{choices}[0]{message}{content},
        cached => $j->{usage}{prompt_tokens_details}{cached_tokens},
        prompt => $j->{usage}{prompt_tokens},
        from => $j->{timings}{cache_source} };
}

sub ids {
    my $file = "$dir/request.json";
    open my $out, '>', $file or die;
    print $out Pen::Http::json($_[0]);
    close $out;
    my $json = `$build/penstock render -m $Pen::Daemon::DEMO --json $file`;
    return @{ decode_json($json)->{ids} };
}

sub common {
    my ($x, $y) = @_;
    my $n = 0;
    $n++ while $n < @$x && $n < @$y && $x->[$n] == $y->[$n];
    return $n;
}

my $d = Pen::Daemon->start(args => { thinking => 'off', threads => 1 });
my @said = ('What is the capital of France? Answer in a sentence please.');
my (@prompts, @asked);
for my $next ('And of Italy? Say it in the same words as before.',
    'Which of the two is older, and by how much, roughly?', undef) {
    my $body = body(@said);
    my $r = ask($d, $body);
    push @prompts, [ ids($body) ];
    push @asked, [ 'turn ' . @prompts, $body, $r ];
    is $r->{prompt}, scalar @{ $prompts[-1] }, 'the prompt is as rendered';
    push @said, $r->{text}, $next if defined $next;
    push @said, $r->{text} unless defined $next;
}
my @edit = @said[ 0 .. 4 ];
for my $case ([ 'one turn more', @said, 'And of Spain?' ],
    [ 'an edit in the middle', @said[ 0, 1 ], 'And of Norway, if you know?',
        @said[ 3, 4 ] ],
    [ 'an edit at the end', @said[ 0 .. 3 ], 'Which one is larger?' ],
    [ 'the same again', @said[ 0 .. 4 ] ]) {
    my ($name, @text) = @$case;
    my $body = body(@text);
    my $r = ask($d, $body);
    my $ids = [ ids($body) ];
    my ($most) = sort { $b <=> $a } map { common($_, $ids) } @prompts;
    $most = @$ids - 1 if $most >= @$ids; # the last row is always computed
    # What an answer computed is reused too: the next turn has it.
    if ($name eq 'one turn more') {
        cmp_ok $r->{cached}, '>=', $most, "$name: at least all prompts before";
        cmp_ok $r->{cached}, '>=', 0.7 * @$ids, 'which is nearly all of it';
    } else {
        is $r->{cached}, $most, "$name: exactly what is in common: $most of "
            . @$ids;
    }
    is $r->{from}, 'prefix', 'from memory';
    push @asked, [ $name, $body, $r ];
    push @prompts, $ids;
}
is $asked[0][2]{cached} . ' ' . $asked[0][2]{from}, '0 none',
    'the first had nothing to reuse';
is $d->stop, 0, 'ends well';

for my $a (@asked) {
    my $fresh = Pen::Daemon->start(args => { thinking => 'off', threads => 1 });
    is ask($fresh, $a->[1])->{text}, $a->[2]{text},
        "$a->[0]: the text of a fresh process";
    is $fresh->stop, 0, 'ends well';
}
done_testing;
