# Some thousands of bad bodies against one daemon: each is a 400 of OpenAI's
# shape that names a field and repeats nothing of the body; each has one row;
# none makes a token; the process lives on, no larger than before.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Encode ();
use Time::HiRes qw(sleep time);
use Pen::Bad;
use Pen::Case;
use Pen::Daemon;
use Pen::Fcgi;

need_demo();
my @all = Pen::Bad::all();
cmp_ok scalar @all, '>', 1000, scalar(@all) . ' bad bodies';
my $d = Pen::Daemon->start(args => { thinking => 'off',
    'log-level' => 'debug', 'default-max-tokens' => 4 });
my $pid = $d->{pid};
is whole(chat($d))->{status}, 200, 'a plain request before';
my $steps = $d->health->{steps};

# What is wrong with the answer to a bad body; "" when nothing is.
sub fault_of {
    my ($bad, $r) = @_;
    my $e = error($r);
    return "status $r->{status}" if $r->{status} != 400;
    return 'content type' unless ($r->{headers}{'content-type'} // '')
        =~ m{^application/json$};
    return 'no end' unless $r->{ended};
    return 'its keys' if join(' ', sort keys %$e) ne 'code message param type';
    return "type $e->{type}" if $e->{type} ne 'invalid_request_error';
    return 'no message' unless length $e->{message};
    return 'it is long' if length $r->{body} > 1024;
    return 'it repeats the body' if $r->{out} =~ /$Pen::Bad::MARK/;
    my ($first) = ($e->{param} // '') =~ /^(\w*)/;
    return "param $e->{param}"
        if defined $bad->{root} && $first ne $bad->{root};
    return "param $e->{param} is nowhere in the body"
        if length $first && $bad->{body} !~ /\b$first\b/
        && $first !~ /^(?:messages|prompt)$/; # these may be what is missing
    return "message without $e->{param}"
        if length $first && $e->{message} !~ /\Q$e->{param}\E/;
    return '';
}

my %ids;
my @twice = @all[ map { $_ * 5 } 0 .. $#all / 5 ];
my @memory;
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
            @faults[ 0 .. ($#faults < 20 ? $#faults : 20) ]);
    push @memory, $d->proc('VmRSS');
}
my $sent = @all + @twice;
is scalar(keys %ids), $sent, 'each has an id of its own';

SKIP: {
    skip 'sanitizers use memory of their own', 1 if $ENV{PENSTOCK_SANITIZER};
    my $end = time + 10;
    sleep 0.02 while $d->proc('VmRSS') > $memory[0] + 2_048 && time < $end;
    cmp_ok $d->proc('VmRSS'), '<=', $memory[0] + 2_048,
        'memory is where it was after the first time';
}
is_deeply $d->health->{steps}, $steps, 'no token was generated';
is $d->health->{waiting} + $d->health->{open}, 0, 'and none waits';

# The rows as text, one per line: id, status, state, finish, tokens.
sub rows {
    open my $in, '-|', 'sqlite3', '-readonly', '-cmd', '.timeout 5000', $d->{db},
        'SELECT request_id, status, state, finish_reason, completion_tokens '
        . 'FROM request ORDER BY id' or die "sqlite3: $!";
    chomp(my @r = <$in>);
    return @r;
}
my @rows;
for (my $end = time + 60; (@rows = rows()) < $sent + 1 && time < $end;) {
    sleep 0.05;
}
is scalar @rows, $sent + 1, 'a row for each, and one of the first request';
shift @rows;
is scalar(grep { !/^([^|]+)\|400\|done\|refused\|$/ || !delete $ids{$1} } @rows),
    0, 'with its id, its status and no tokens';
for my $path ($d->{logfile}, glob "$d->{db}*") {
    open my $in, '<:raw', $path or die "$path: $!";
    my $text = do { local $/; <$in> };
    unlike $text, qr/$Pen::Bad::MARK/, "nothing of a body in $path";
}
ok $d->alive && $d->{pid} == $pid, 'the same process';
my $after = whole(chat($d));
is $after->{status}, 200, 'a plain request after';
like $after->{text}, qr/\w/, 'with its answer';
is $d->stop, 0, 'ends well';
done_testing;
