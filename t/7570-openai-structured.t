# Answers with a form: the official openai package, nginx with TLS, the real
# daemon and the demo model.
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
    Pen::Js::run('structured.mjs', site => $site, key => $key, h2 => $h2);
}
is $d->stop, 0, 'the daemon ends with 0';
unlike $d->log, qr/Paris|Łódź/, 'its log has neither schemas nor answers';
done_testing;
