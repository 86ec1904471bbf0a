# Some thousands of bad bodies for /v1/responses and /v1/messages: each is a
# 400 of its dialect's shape that names a field and repeats nothing of the
# body; each has one row; none makes a token; the process lives on, no larger.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Time::HiRes qw(sleep time);
use Pen::Bad;
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;

need_demo();
my @all = Pen::Bad::newer();
cmp_ok scalar @all, '>', 1000, scalar(@all) . ' bad bodies';
my $d = Pen::Daemon->start(args => { thinking => 'off',
    'log-level' => 'debug' });
my $steps = $d->health->{steps};

# What is wrong with the answer to a bad body; "" when nothing is.
sub fault_of {
    my ($bad, $r) = @_;
    return "status $r->{status}" if $r->{status} != 400;
    my $v = eval { JSON::PP->new->utf8->decode($r->{body}) } // {};
    my $e = $v->{error} // {};
    my $anthropic = $bad->{uri} =~ /messages/;
    return 'content type' unless ($r->{headers}{'content-type'} // '')
        =~ m{^application/json$};
    return 'no end' unless $r->{ended};
    my $keys = join ' ', sort(keys %$v), '/', sort keys %$e;
    $keys =~ s{/ details}{/} if ($bad->{root} // '') eq 'thread';
    return "keys $keys" if $keys ne ($anthropic
        ? 'error request_id type / message type'
        : 'error / code message param type');
    return "type $e->{type}" if $e->{type} ne 'invalid_request_error';
    return 'no message' unless length $e->{message};
    return 'it is long' if length $r->{body} > 1024;
    return 'it repeats the body' if $r->{out} =~ /$Pen::Bad::MARK/;
    my ($first) = ($anthropic ? $e->{message} =~ /^(\w+)[\w.\[\]]*: /
        : ($e->{param} // '') =~ /^(\w+)/);
    return "$e->{message}: another field"
        if defined $bad->{root} && ($first // '') ne $bad->{root};
    return '';
}

my (%ids, @memory);
my @twice = @all[ map { $_ * 5 } 0 .. $#all / 5 ];
for my $pass (\@all, \@twice) {
    my @faults;
    for my $bad (@$pass) {
        my $r = Pen::Fcgi->request($d->{socket}, uri => $bad->{uri},
            body => $bad->{body}, timeout => 60);
        my $fault = fault_of($bad, $r);
        push @faults, "$fault: $bad->{uri} $bad->{name}" if $fault;
        $ids{ $r->{headers}{'x-request-id'} // '' }++;
        last unless $d->alive;
    }
    is scalar @faults, 0, 'every answer is a good refusal'
        or diag(join "\n", map { substr $_, 0, 300 }
            @faults[ 0 .. ($#faults < 40 ? $#faults : 40) ]);
    push @memory, $d->proc('VmRSS');
}
is scalar(keys %ids), @all + @twice, 'each has an id of its own';
SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    my $end = time + 10;
    sleep 0.02 while $d->proc('VmRSS') > $memory[0] + 2_048 && time < $end;
    cmp_ok $d->proc('VmRSS'), '<=', $memory[0] + 2_048,
        'memory is where it was after the first time';
}
is_deeply $d->health->{steps}, $steps, 'no token was generated';
is $d->health->{waiting} + $d->health->{open}, 0, 'and none waits';
# Their ids, one per line; the ledger is asked for all of them at once.
sub rows {
    open my $in, '-|', 'sqlite3', '-readonly', '-cmd', '.timeout 5000', $d->{db},
        "SELECT request_id FROM request WHERE status = 400 AND state = 'done' "
        . "AND finish_reason = 'refused'" or die "sqlite3: $!";
    chomp(my @r = <$in>);
    return @r;
}
my @rows;
for (my $end = time + 60; (@rows = rows()) < @all + @twice && time < $end;) {
    sleep 0.1;
}
is scalar @rows, @all + @twice, 'a row for each';
is scalar(grep { !delete $ids{$_} } @rows), 0, 'with its id';
for my $path ($d->{logfile}, glob "$d->{db}*") {
    open my $in, '<:raw', $path or die "$path: $!";
    my $text = do { local $/; <$in> };
    unlike $text, qr/$Pen::Bad::MARK/, 'nothing of a body in '
        . $path =~ s{.*/}{}r;
}
is $d->stop, 0, 'ends well';
done_testing;
