# t/contract/run against the whole site: nginx with TLS, the real daemon, the
# demo model, a key. And that it sees faults where there are some.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

my ($node) = grep { -x } $Pen::Js::NODE, map { "$_/node" } split /:/, $ENV{PATH};
plan skip_all => 'no node: run t/js/install.sh' unless $node;
plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
plan skip_all => 'no nginx: run contrib/get-nginx'
    unless Pen::Nginx::program();

# The runner's output and its exit code.
sub run {
    my ($ca, @args) = @_;
    local $ENV{NODE_EXTRA_CA_CERTS} = $ca;
    local $ENV{NO_PROXY} = '*';
    local $ENV{LD_PRELOAD};
    delete $ENV{LD_PRELOAD};
    open my $in, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh', $node,
        't/contract/run', @args or die "node: $!";
    local $/;
    my $out = <$in> // '';
    close $in;
    return ($out, $? >> 8);
}

my ($text, $rc) = run('', '--help');
ok $rc == 0 && $text =~ /--openai-only/, '--help';
for my $args ([], ['ftp://x'], ['--what'], ['--only'], [qw(http://x k more)],
    [ '--only', 'no rule has this', 'http://127.0.0.1:1' ]) {
    ($text, $rc) = run('', @$args);
    ok $rc == 2 && $text =~ /^run: .*--help$/, "usage: @$args";
}
($text, $rc) = run('', 'http://127.0.0.1:1/v1');
is $rc, 2, 'nobody there is 2';
my @rules = split /\n/, (run('', '--list'))[0];
cmp_ok scalar(@rules), '>', 300, 'it has its rules';
my @openai = split /\n/, (run('', '--list', '--openai-only'))[0];
is_deeply \@openai, [ grep { !/^[MX]/ } @rules ], 'those of OpenAI alone';

# --- the site keeps them -----------------------------------------------------
my $d = Pen::Daemon->start(args => { threads => 1, 'responses-keep' => 1 });
my $key = $d->add_key('alice');
my $site = Pen::Nginx->start(socket => $d->{socket}, server => <<'END');
        location /empty/ { default_type application/json; return 200 '{}'; }
        location /page/ { default_type text/html; return 500 '<html>'; }
END
($text, $rc) = run($site->{ca}, "$site->{url}/v1", $key);
diag $text =~ s/^(?:ok|#).*\n(?!#  )//gmr if $rc;
is $rc, 0, 'every rule holds';
like $text, qr/^# (\d+) of \1 rules hold\n\z/m, 'and the end says so';
like $text, qr/^1\.\.\d+$/m, 'TAP with a plan';
unlike $text, qr/# SKIP/, 'none was skipped';

($text, $rc) = run('', '--only', 'J01', "$site->{url}/v1", $key);
is $rc, 2, 'a certificate that nobody signed is refused';
($text, $rc) = run('', '--only', 'J01', '--insecure', "$site->{url}/v1/", $key);
is $rc, 0, 'but with --insecure';
like $text, qr/^ok 1 - J01 .*\n1\.\.1\n# J .*: 1 of 1\n# 1 of 1 rules hold$/m,
    'one rule, one point';
($text, $rc) = run('', '--only', 'J01', "$site->{plain}/v1", 'pk-wrong');
is $rc, 2, 'a key that is not taken: no model to ask';
is $d->stop, 0, 'the daemon ends with 0';

# --- and others do not -------------------------------------------------------
for my $bad (qw(empty page)) {
    ($text, $rc) = run('', '--model', 'm', "$site->{plain}/$bad", 'k');
    is $rc, 1, "$bad: some do not hold";
    my ($holds, $all) = $text =~ /^# (\d+) of (\d+) rules hold$/m;
    cmp_ok $holds, '<=', 2, "$bad: next to none of $all holds";
    note "holds: $1" while $text =~ /^ok \d+ - (.*)$/mg;
}
done_testing;
