# The AI SDK (ai, @ai-sdk/openai-compatible), nginx with TLS, the real daemon
# and the demo model.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
my $d = Pen::Daemon->start;
my $key = $d->add_key('alice');
my $site = Pen::Nginx->start(socket => $d->{socket});
for my $h2 (0, 1) {
    Pen::Js::run('ai-sdk.mjs', site => $site, key => $key, h2 => $h2);
}
my @left = $d->wait_rows("finish_reason = 'abandoned'", 2);
is scalar @left, 2, 'each stream that was left has a row that says so';
is scalar(grep { !$_->{key_id} } @left), 0, 'under its key';
cmp_ok $_->{completion_tokens}, '>=', 5, 'with the tokens that were made'
    for @left;
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
