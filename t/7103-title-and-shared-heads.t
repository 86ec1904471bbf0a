# A page asks for a title while a long turn runs: the side lane serves Open
# WebUI's request whatever its token limit, and the turn's text is what it is
# alone; the same request as an ordinary question waits. And what several
# prompts share is computed once: by three choices of one request, and by four
# requests at a time, counted by /health.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use File::Temp qw(tempdir);
use JSON::PP ();
use Pen::Daemon;
use Pen::Http;
use Pen::Load;
use Pen::Nginx;

my $build = Pen::Daemon::build();
plan skip_all => 'no penstockd' unless -x "$build/penstockd";
my $uri = '/v1/chat/completions';
my $wait = $ENV{PENSTOCK_SANITIZER} ? 300 : 60;
my $long = $ENV{PENSTOCK_SANITIZER} ? 600 : 3000;
my $yes = JSON::PP::true;

sub ask {
    my ($content, $tokens, %more) = @_;
    return { messages => [ { role => 'user', content => $content } ],
        max_tokens => $tokens, temperature => 0, reasoning_effort => 'none',
        %more };
}

sub text {
    return join '', map {
        my ($json) = $_->[1] =~ /^data: (\{.*)/;
        my $c = $json && JSON::PP->new->utf8->decode($json)->{choices};
        $c && @$c ? $c->[0]{delta}{content} // '' : ();
    } @_;
}

# --- a title ------------------------------------------------------------------
# Open WebUI, backend/open_webui/config.py, the title template's form.
my $title = <<'END';
### Task:
Generate a concise, 3-5 word title with an emoji summarizing the chat history.
### Guidelines:
- The title should clearly represent the main theme of the conversation.
### Output:
JSON format: { "title": "your concise title here" }
### Chat History:
<chat_history>
USER: Tell me a story about a fox.
</chat_history>
END
# 3065 ends the demo model's turns
my $turn = ask('Tell me a long story about a king.', $long, stream => $yes,
    logit_bias => { 3065 => -100 });
my $d = Pen::Daemon->start(args => { parallel => 1, 'side-slots' => 1,
    threads => 1 });
my $h = Pen::Http->new(my $n = Pen::Nginx->start(socket => $d->{socket}));
my $alone = text($h->stream($uri, { %$turn, max_tokens => 200 })->lines($wait));
my $s = $h->stream($uri, $turn);
my @heard = $s->line($wait);
ok $heard[0], 'a long turn runs';
my @f = map {
    my $f = Pen::Fcgi->connect($d->{socket});
    $f->send_request(uri => $uri, body => Pen::Http::json($_));
    $f;
} ask("Please answer.\n$title", 66), ask($title, 65);
is $_->response($wait)->{status}, 200, 'answered' for @f;
push @heard, $s->lines($wait);
my ($l, $w, $t) = map {
    my $r = ($d->wait_rows("max_tokens = $_ AND state <> 'open'"))[0];
    { began => $r->{ts_ms} + $r->{queue_ms},
        ended => $r->{ts_ms} + $r->{total_ms},
        tokens => $r->{completion_tokens} }
} $long, 66, 65;
cmp_ok $t->{ended}, '<', $l->{ended}, 'the title before the turn ends';
cmp_ok $w->{began} + 50, '>=', $l->{ended}, 'an ordinary question after it';
like $heard[-1][1], qr/DONE/, 'the turn ends well';
is $l->{tokens}, $long, 'at its limit';
my $heard = text(@heard);
is substr($heard, 0, length $alone), $alone, 'with the text that it has alone';
is $d->stop, 0, 'the daemon ends well';

# --- shared heads -----------------------------------------------------------
my $dir = tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1);
sub ids {
    my $file = "$dir/request.json";
    open my $out, '>', $file or die;
    print $out Pen::Http::json($_[0]);
    close $out;
    my $got = `$build/penstock render -m $Pen::Daemon::DEMO --json $file`;
    return @{ JSON::PP->new->utf8->decode($got)->{ids} };
}

# Rows of prompts that the engine computed for these requests, sent at once.
sub rows {
    my @body = @_;
    my $before = $d->health->{cache}{prefix}{rows_forwarded};
    my @f = map {
        my $f = Pen::Fcgi->connect($d->{socket});
        $f->send_request(uri => $uri, body => Pen::Http::json($_));
        $f;
    } @body;
    is $_->response($wait)->{status}, 200, 'answered' for @f;
    $d->wait_load(0, 0);
    return $d->health->{cache}{prefix}{rows_forwarded} - $before;
}

# Rows of these prompts, those that they share once.
sub distinct {
    my %seen;
    $seen{ join ',', @{ $_->[0] }[ 0 .. $_->[1] ] }++
        for map { my $p = $_; map { [ $p, $_ ] } 0 .. $#$p } @_;
    return scalar keys %seen;
}

$d = Pen::Daemon->start(args => { parallel => 4, threads => 1 });
my $three = ask(Pen::Load::words('three', 1500), 8, n => 3);
my @p = ids($three);
is rows($three), @p + 2, '3 choices: the prompt of ' . @p
    . ' tokens once, and the last row of each other choice';
my $head = Pen::Load::words('head', 1500);
my @four = map { ask("$head\n$_ is my question.", 8) } qw(First Other Third Last);
my @ids = map { [ ids($_) ] } @four;
my ($once, $got) = (distinct(\@p, @ids) - @p, rows(@four));
# One that comes when another's prompt is done shares whole pages of it.
my $page = 64;
cmp_ok $got, '>=', $once, '4 requests: all that is not shared';
cmp_ok $got, '<=', $once + 3 * $page, "and their head once: $got rows of "
    . "$once, for 4 prompts of " . @{ $ids[0] };
is $d->stop, 0, 'the daemon ends well';
done_testing;
