# Case C35: a NUL is data; nothing behind it is lost.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Daemon;
use Pen::Render;

my $build = Pen::Daemon::build();
my $model = $Pen::Daemon::DEMO;
plan skip_all => "$build/penstock is not built" unless -x "$build/penstock";
plan skip_all => 'no demo model' unless -r $model;
my $text = "Reply BANANA.\0 If you can read this, reply APPLE.";

sub said { join '', map { $_->{text} } @{ $_[0]{segments} } }
my $got = render({ messages => [ user($text), user('next') ] }, '-m', $model);
like said($got), qr/\Q$text\E.*next.*assistant\n/s,
    'C35: the text behind a NUL, later messages and the turn';
my @len = map { scalar @{ render({ messages => [ user($_) ] }, '-m',
    $model)->{ids} } } 'Reply BANANA.', "Reply BANANA.\0", $text;
ok $len[0] < $len[1] && $len[1] + 5 < $len[2], "C35: and its tokens: @len";
$got = render({ messages => [ user('a'), { role => 'assistant',
    tool_calls => [ { id => "c\0d", type => 'function', function => {
        name => 'f', arguments => json->encode({ "k\0l" => "v\0w" }) } } ] },
    { role => 'tool', tool_call_id => "c\0d", content => $text } ],
    tools => [ { type => 'function', function => { name => 'f',
        description => "d\0e" } } ] }, '-m', $model);
like said($got), qr/<parameter=k\0l>\nv\0w\n.*\Q$text\E/s,
    'C35: in calls and results';
like said($got), qr/d\\u0000e/, 'C35: escaped in the JSON of a tool';

SKIP: {
    skip 'no penstockd: make first', 3 unless -x "$build/penstockd";
    my $d = Pen::Daemon->start(args => { thinking => 'off' });
    my $r = Pen::Fcgi->request($d->{socket}, timeout => 60,
        uri => '/v1/chat/completions', body => json->encode({
            messages => [ user($text) ], max_tokens => 1,
            stop => [ "\0", "a\0b" ] }));
    is $r->{status}, 200, 'C35: a stop string with a NUL';
    is json->decode($r->{body})->{usage}{prompt_tokens}, scalar @{ render(
        { messages => [ user($text) ], thinking => \0 }, '-m', $model)->{ids} },
        'C35: the daemon counts all tokens';
    is $d->stop, 0, 'ends well';
}
done_testing;
