# The memory gate under a real limit: a daemon in a cgroup that has its peak
# and not a byte more is driven until requests wait and are refused, and never
# passes it, never dies, and serves what fits.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Cgroup;
use Pen::Daemon;
use Pen::Http;
use Time::HiRes qw(sleep time);

plan skip_all => 'sanitizers use memory of their own'
    if $ENV{PENSTOCK_SANITIZER};

my $chat = '/v1/chat/completions';
my $mib = 1 << 20;

sub health {
    my $d = shift;
    my $r = Pen::Fcgi->request($d->{socket});
    return JSON::PP::decode_json($r->{body});
}

# Once the accounts have all that is resident: the system's own figure is
# read every second.
sub settled {
    my ($d, $end) = (shift, time + 20);
    for (;;) {
        my $h = health($d);
        return $h if $h->{memory}{held} >= $d->proc('VmRSS') << 10
            || time > $end;
        sleep 0.1;
    }
}

# A long prompt that shares nothing with another number's: about five tokens
# a word, 2.5 KiB of keys and values each.
sub long {
    my ($i, $words, %more) = @_;
    my $text = join ' ', map { ($i * 7919 + $_ * 104729) % 9973 } 1 .. $words;
    return Pen::Http::json({ messages => [ { role => 'user',
        content => $text } ], max_tokens => 4, temperature => 0, %more });
}

sub start {
    my ($peak, $group, %args) = @_;
    my $d = Pen::Daemon->start(
        in_child => sub { $group->enter or die 'cgroup' },
        args => { 'mem-peak' => $peak, 'mem-slack' => '1m', 'side-slots' => 0,
            parallel => 12, 'max-queue' => 100, 'kv-memory' => '256m',
            thinking => 'off', %args });
    return $d;
}

# Busy: 503 with the figures, at the start or as an error event.
sub refused {
    my $r = shift;
    return ($r->{status} // 0) == 503
        && ($r->{headers}{'retry-after'} // 0) > 0
        && $r->{body} =~ /"type":"server_busy"/
        && $r->{body} =~ /peak \d+ MiB: /;
}

my $peak = 32 * $mib;
my $group = Pen::Cgroup->new($peak);
plan skip_all => 'no memory cgroup of our own can be made here' unless $group;
my $d = start($peak, $group);
my $pid = $d->{pid};
my $r = Pen::Fcgi->request($d->{socket}, uri => $chat, body => long(0, 350),
    timeout => 60);
is $r->{status}, 200, 'a long prompt alone is served';
my $h = settled($d);
my $idle = $h->{memory};
is $h->{memory}{peak}, $peak, '/health has the peak';
my %class = %{ $h->{memory}{classes} };
ok exists $class{$_}, "and $_"
    for qw(weights kv prefix state free workspace requests spool vision experts
    other);
cmp_ok $class{weights}, '>', $mib, 'weights are counted';
my $sum = 0;
$sum += $_ for values %class;
cmp_ok abs($sum - $h->{memory}{held}), '<', $mib, 'held is their sum';
cmp_ok $h->{memory}{held}, '>=', $d->proc('VmRSS') << 10,
    'which is all that is resident';
diag "idle: $h->{memory}{held} held of $peak";

# More long prompts at once than the limit has room for.
my ($served, $busy, $other) = (0, 0, 0);
my @f;
for my $i (1 .. 10) {
    my $f = Pen::Fcgi->connect($d->{socket}) or next;
    $f->send_request(uri => $chat, body => long($i, 350,
        stream => $i % 2 ? JSON::PP::true : JSON::PP::false));
    push @f, $f;
}
for my $f (@f) {
    my $r = $f->response(300);
    if (($r->{status} // 0) == 200 && $r->{ended}
        && $r->{body} =~ /"finish_reason":"(?:length|stop)"/) {
        $served++;
    } elsif (refused($r)) {
        $busy++;
    } else {
        $other++;
        diag "status ", $r->{status} // 'none', ": $r->{body}";
    }
}
$h = health($d);
my $pressure = $h->{gate}{waits} + $h->{gate}{refusals} + $busy;
my $given = 0;
$given += $_ for @{ $h->{gate}{given_bytes} };
diag "served $served, refused $busy, gate waits $h->{gate}{waits}, ",
    "given back $given, at most ", $d->proc('VmHWM'), ' KiB resident';
is $other, 0, 'every answer is whole, or refused with figures';
cmp_ok $served, '>=', 4, 'those that fit are served';
cmp_ok $pressure, '>', 0, 'some had to wait or were refused';
cmp_ok $given, '>', 0, 'and what could be computed again was given back';

# A body that would not fit is refused before it is read.
$r = Pen::Fcgi->request($d->{socket}, uri => $chat, body => '{',
    params => { CONTENT_LENGTH => 20 * $mib }, timeout => 20);
ok refused($r), 'a declared length that does not fit: 503 before the body';
$r = Pen::Fcgi->request($d->{socket}, uri => $chat, timeout => 60,
    body => Pen::Http::json(Pen::Http::chat(3)));
is $r->{status}, 200, 'a short request is served right after';

cmp_ok $d->proc('VmHWM') << 10, '<=', $peak, 'never more than the peak';
cmp_ok $group->peak, '<=', $peak, 'by the system\'s count too';
is $group->oom_kills // 0, 0, 'nothing was killed';
ok $d->alive, 'it lives';
is $d->{pid}, $pid, 'and is the same process';
is $d->stop, 0, 'and ends as it should';

# Too little for even one: refused when nobody runs, and short ones are served.
my $less = $idle->{held} - $idle->{classes}{prefix} - $idle->{classes}{free}
    + 3 * $mib;
my $small = Pen::Cgroup->new($less);
$d = start($less, $small);
$r = Pen::Fcgi->request($d->{socket}, uri => $chat, body => long(1, 700),
    timeout => 60);
ok refused($r), 'a prompt that never fits: 503, Retry-After and figures'
    or diag "status ", $r->{status} // 'none', ": $r->{body}";
like $r->{body}, qr/\d+ MiB are held and \d+ MiB needed/, 'held and needed';
$r = Pen::Fcgi->request($d->{socket}, uri => $chat, timeout => 60,
    body => Pen::Http::json(Pen::Http::chat(3)));
is $r->{status}, 200, 'a short one is served';
is $small->oom_kills // 0, 0, 'nothing was killed there either';
is $d->stop, 0, 'and it ends as it should';
done_testing;
