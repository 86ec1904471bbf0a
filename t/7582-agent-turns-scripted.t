# Agents put system messages behind users', and users' messages side by side.
# Templates that refuse such an order get one that they take, and the others
# the order that was sent. Templates and their rules: t/data/chat/templates.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Agents;
use Pen::Daemon;
use Pen::Http;
use Pen::Nginx;

plan skip_all => 'no penstockd: make first'
    unless -x Pen::Daemon::build() . '/penstockd';
plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;

sub post {
    my ($h, $key, $path, $body, @headers) = @_;
    return $h->post($path, Pen::Http::json($body),
        headers => [ "Authorization: Bearer $key", @headers ]);
}

for (['Qwen3.5-4B', 0], ['mistralai-Mistral-Nemo-Instruct-2407', 0],
    ['mistralai-Mistral-7B-Instruct-v0.2-NOTE-Old-pre', 1]) {
    my ($template, $toolless) = @$_;
    my $d = Pen::Daemon->scripted(args => { context => 65_536,
        'chat-format' => "t/data/chat/templates/$template.jinja" });
    my $n = Pen::Nginx->start(socket => $d->{socket});
    my ($h, $key) = (Pen::Http->new($n), $d->add_key('agent'));
    my ($codex, $claude) = (codex(), claude());
    if ($toolless) {
        delete @$_{qw(tools tool_choice)} for $codex, $claude;
    }
    my $users = grep { ($_->{role} // '') eq 'user' } @{ $codex->{input} };
    cmp_ok $users, '>', 1, "$template: users' messages side by side";
    my $r = post($h, $key, '/v1/responses', $codex, @{ codex_headers() });
    is $r->{status}, 200, "$template: Codex is served" or diag $r->{body};
    is $claude->{messages}[1]{role}, 'system', "$template: a late one";
    $r = post($h, $key, '/v1/messages', $claude, @{ claude_headers() });
    is $r->{status}, 200, "$template: Claude Code is served"
        or diag $r->{body};
    $r = post($h, $key, '/v1/responses', { input => [
        { role => 'user', content => 'a' }, { role => 'user', content => 'b' },
        { role => 'bad', content => 'b' } ] });
    is $r->{json}{error}{param}, 'input[2].role',
        "$template: what is wrong stays wrong";
    $r = post($h, $key, '/v1/responses', { input => [ map {
        { role => 'user', content => 'a b ' x 2500 } } 1 .. 700 ] });
    is $r->{json}{error}{code}, 'context_length_exceeded',
        "$template: 700 neighbours of 10 kB are too long, and nothing else"
        or diag $r->{body};
    is $d->stop, 0, 'ends well';
}

done_testing;
