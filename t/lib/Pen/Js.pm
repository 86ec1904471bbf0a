# Pen::Js - run a JavaScript test against a site and pass its TAP on.
#
#   Pen::Js::run('chat.mjs', site => $nginx, key => $key, h2 => 1);
#   my $p = Pen::Js::start(...);  print {$p->{in}} "stop\n";  $p->finish
#   Pen::Js::whole_site('ai-sdk.mjs');   # a whole test, see below
#
# The Node of t/js/package.json runs it; without it the file is skipped.
package Pen::Js;
use strict;
use warnings;
use IPC::Open2 qw(open2);
use Test::More ();

our $NODE = 't/js/node_modules/.bin/node';

sub need {
    Test::More::plan(skip_all =>
        't/js/node_modules is missing: run t/js/install.sh') unless -x $NODE;
}

sub start {
    my ($program, %o) = @_;
    need();
    local $ENV{PEN_URL} = $o{site}{url};
    local $ENV{PEN_CA} = $o{site}{ca};
    local $ENV{PEN_KEY} = $o{key} // 'none';
    local $ENV{PEN_H2} = $o{h2} ? 1 : 0;
    local $ENV{NO_PROXY} = '*';
    # The JavaScript is not ours to sanitize, and types are judged elsewhere.
    local $ENV{PEN_UNTYPED} = 1 if $ENV{PENSTOCK_SANITIZER};
    local $ENV{LD_PRELOAD};
    delete $ENV{LD_PRELOAD};
    my $pid = open2(my $out, my $in, $NODE, "t/js/$program");
    return bless { pid => $pid, out => $out, in => $in, name => $program,
        owner => $$ },
        __PACKAGE__;
}

# Read the rest of its TAP as our own test points; returns the # lines.
sub finish {
    my $self = shift;
    my (@notes, $plan);
    my $out = $self->{out};
    while (<$out>) {
        chomp;
        if (/^(not )?ok \d+ - (.*)/) {
            Test::More::ok(!$1, $2);
        } elsif (/^1\.\.\d+/) {
            $plan = 1;
        } else {
            push @notes, $_;
        }
    }
    close $self->{in};
    waitpid delete $self->{pid}, 0;
    Test::More::ok($plan && $? == 0, "$self->{name} ran to its end")
        or Test::More::diag(join "\n", @notes);
    Test::More::diag($_) for grep { /got .*expected/ } @notes;
    return @notes;
}

# A test that dies takes its clients along.
sub DESTROY {
    my $self = shift;
    return if !$self->{pid} || $self->{owner} != $$;
    local ($@, $?);
    kill 'KILL', $self->{pid};
    waitpid $self->{pid}, 0;
}

sub run {
    my ($program, %o) = @_;
    my $p = start($program, %o);
    return $p->finish;
}

# A client library against the demo model behind nginx with TLS, over HTTP/1.1
# and HTTP/2; each time it leaves one stream in its middle.
sub whole_site {
    my ($program) = @_;
    need();
    require Pen::Daemon;
    require Pen::Nginx;
    # the same texts as every set's, but a stream has a middle
    local $ENV{PENSTOCK_CPU} = 'ref' unless $ENV{PENSTOCK_SANITIZER};
    my $d = Pen::Daemon->start;
    my $key = $d->add_key('alice');
    my $site = Pen::Nginx->start(socket => $d->{socket});
    for my $h2 (0, 1) {
        run($program, site => $site, key => $key, h2 => $h2);
    }
    my @left = $d->wait_rows("finish_reason = 'abandoned'", 2);
    Test::More::is(scalar @left, 2,
        'each stream that was left has a row that says so');
    Test::More::is(scalar(grep { !$_->{key_id} } @left), 0, 'under its key');
    Test::More::cmp_ok($_->{completion_tokens}, '>=', 5,
        'with the tokens that were made') for @left;
    Test::More::is($d->stop, 0, 'the daemon ends with 0');
}

1;
