# /v1/messages: the official @anthropic-ai/sdk package, nginx with TLS, the
# real daemon and the demo model, over HTTP/1.1 and HTTP/2.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

Pen::Js::need();
delete $ENV{$_} for grep { /^ANTHROPIC_/ } keys %ENV;
# the same texts as every set's, but what is left has a middle
local $ENV{PENSTOCK_CPU} = 'ref' unless $ENV{PENSTOCK_SANITIZER};
my $d = Pen::Daemon->start;
my $key = $d->add_key('alice');
my $site = Pen::Nginx->start(socket => $d->{socket});
for my $h2 (0, 1) {
    local $ENV{PEN_UNTYPED} = $h2;
    Pen::Js::run('messages.mjs', site => $site, key => $key, h2 => $h2);
    Pen::Js::run('tool-runner.mjs', site => $site, key => $key, h2 => $h2);
}
my @left = $d->wait_rows("finish_reason = 'abandoned'", 4);
is scalar @left, 4, 'each answer that was left has a row that says so';
is scalar(grep { !$_->{key_id} } @left), 0, 'under its key';
is scalar(grep { $_->{endpoint} !~ /messages/ } @left), 0, 'and its endpoint';
my ($counts) = $d->rows("endpoint LIKE '%count%'");
ok !$counts, 'counting tokens leaves no row';
is $d->stop, 0, 'the daemon ends with 0';
unlike $d->log, qr/Paris|Anna|sunny/, 'its log has no text';

my $small = Pen::Daemon->start(args => { thinking => 'off',
    'limit-requests' => 4 });
my $narrow = Pen::Nginx->start(socket => $small->{socket},
    edit => sub { s/client_max_body_size 64m/client_max_body_size 1m/ or die });
for my $h2 (0, 1) {
    local $ENV{PEN_UNTYPED} = $h2;
    Pen::Js::run('messages-errors.mjs', site => $narrow, h2 => $h2,
        key => $small->add_key("limited$h2"));
}
is $small->stop, 0, 'the limited daemon ends with 0';
local $ENV{PEN_DOWN} = 1;
Pen::Js::run('messages-errors.mjs', site => $narrow, h2 => 1);
done_testing;
