# Hostile schemas and regexes: each is compiled, or refused with the limit or
# keyword named, within counted steps and 64 MiB beside what reading the same
# document takes; by penstock grammar, and by a daemon whose running request
# notices nothing. (Milliseconds are in docs/performance.md, t/bench/grammars.)
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use JSON::PP ();
use Pen::Beside;
use Pen::Case;
use Pen::Daemon;
use Pen::Grammar;
use Pen::Hostile;

need_demo();
need_penstock();
my $json = JSON::PP->new->utf8->canonical;
my @all = Pen::Hostile::all();
cmp_ok scalar @all, '>=', 20, scalar(@all) . ' of them';

# --- penstock grammar: steps, and address space beside a harmless document ---
my $kib = 64 * 1024;
my ($steps) = Pen::Grammar::slurp('src/gram/expr.h')
    =~ /^#define GX_WORK_MAX (\d+)/m;

# Address space that penstock needs to read that document and do nothing, to a
# MiB; all small documents need the same.
my $small;
sub base {
    my ($h) = @_;
    my $large = length($h->{schema} // '') > 20_000;
    return $small if $small && !$large;
    my ($low, $high) = (0, 1 << 20);
    my @harmless = $h->{regex} ? (regex => 'a')
        : (schema => '{"default":' . $h->{schema} . '}');
    while ($high - $low > 1024) {
        my $middle = int(($low + $high) / 2);
        my $r = grammar(@harmless, accepts => '{}', limit => $middle);
        ($r->{status} < 2 ? $high : $low) = $middle;
    }
    $small //= $high if !$large;
    return $high;
}

for my $h (@all) {
    my ($kind) = grep { $h->{$_} } qw(schema regex);
    my $r = grammar($kind, $h->{$kind}, accepts => $h->{text} // '',
        options => ['--json']);
    my $what = "$h->{name}: " . ($r->{status} == 3 ? 'refused' : 'compiled');
    ok $r->{status} =~ /^[013]$/, $what or diag "$r->{status} $r->{err}";
    is $r->{status}, $h->{status}, 'as it should be' if defined $h->{status};
    like $r->{err}, $h->{why} // qr/\w+ at #|\d|no text/,
        'the reason' if $r->{status} == 3;
    unlike $r->{err}, qr/out of memory/, 'which is no accident';
    cmp_ok length $r->{err}, '<', 1024, 'in a line';
    cmp_ok $r->{json}{steps} // 1e9, '<=', 1.1 * $steps, 'steps';
    next if $ENV{PENSTOCK_SANITIZER};
    my $limit = grammar($kind, $h->{$kind}, accepts => $h->{text} // '',
        limit => base($h) + $kib);
    is $limit->{status}, $r->{status}, 'within 64 MiB' or diag $limit->{err};
}

# --- the daemon ---------------------------------------------------------------
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my $pid = $d->{pid};
my $alone = Pen::Beside->start($d)->text;
my $long = Pen::Beside->start($d);

# The members of a body that ask for it: two ways for a schema.
sub shapes {
    my ($h) = @_;
    return '"structured_outputs":' . $json->encode({ regex => $h->{regex} })
        if $h->{regex};
    return ('"response_format":{"type":"json_schema","json_schema":{"name":"x",'
        . "\"schema\":$h->{schema}}}",
        '"tool_choice":"required","tools":[{"type":"function","function":{'
        . '"name":"f","parameters":{"type":"object","properties":{"a":'
        . "$h->{schema}}}}}]");
}

for my $try (map { my $h = $_; map { [ $h->{name}, $_ ] } shapes($h) } @all) {
    my ($name, $shape) = @$try;
    if (!$long->runs) {
        is $long->text, $alone, 'a request that ran beside: its text is its own';
        $long = Pen::Beside->start($d);
    }
    my $r = Pen::Fcgi->request($d->{socket}, timeout => 120,
        uri => '/v1/chat/completions', body => '{"messages":[{"role":"user",'
            . '"content":"Hi"}],"temperature":0,"max_tokens":40,' . "$shape}");
    my ($field) = $shape =~ /^"tool/ ? 'tool' : $shape =~ /^"(\w+)/;
    ok $r->{status} =~ /^(?:200|400)$/, "$name, $field: $r->{status}"
        or diag $r->{body};
    next if $r->{status} != 400;
    # (tools are part of the prompt, and may not fit)
    like error($r)->{param} // '', error($r)->{code} // ''
        eq 'context_length_exceeded' ? qr/^messages$/ : qr/^$field/,
        'its param' or diag $r->{body};
    cmp_ok length $r->{body}, '<', 2048, 'a short answer';
}
is $long->text, $alone, 'a request that ran beside: its text is its own';
ok $d->alive && $d->{pid} == $pid, 'the same process';
like whole(chat($d, force('yes')))->{text}, qr/^yes\z/, 'and it serves';
is $d->stop, 0, 'ends well';
done_testing;
