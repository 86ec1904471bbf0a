# Pen::Load - many clients at once (t/load/client.c): a tiny model, some forty
# distinct requests, and what must be true of all that came of them.
#
#   my $load = Pen::Load->new;                 # skips the test without node
#   my $load = Pen::Load->new(context => 20480, mkmodel => [qw(--width 256)]);
#   my $d = Pen::Daemon->start(model => $load->{model}, args => {...});
#   $load->keys($d, 64);
#   $load->alone($d);                          # the texts, one by one
#   my @r = $load->run($d, total => 300, width => 24, leave => 20, seed => 1);
#   $load->check($d, @r);
#
# Requests share heads (a system message, a conversation that grows) or share
# nothing, are streamed or not, greedy or with a seed. Those marked `fresh`
# are new each time, so their text is compared with nothing. Expected texts are
# the daemon's own, of each request alone: neighbours must change nothing.
package Pen::Load;
use strict;
use warnings;
use Carp qw(croak);
use File::Temp qw(tempdir);
use JSON::PP ();
use Pen::Daemon;
use Pen::Fcgi;
use Test::More ();
use Time::HiRes qw(sleep time);

my @columns = qw(number ask key how status retry id finish prompt cached
    first_us total_us text);
my $json = JSON::PP->new->canonical;
my ($yes, $no) = (JSON::PP::true, JSON::PP::false);

sub new {
    my ($class, %o) = @_;
    my $node = -x 't/js/node_modules/.bin/node'
        ? 't/js/node_modules/.bin/node'
        : (grep { -x } map { "$_/node" } split /:/, $ENV{PATH})[0];
    my $client = Pen::Daemon::build() . '/t/load/client';
    Test::More::plan(skip_all => 'no node on this machine') unless $node;
    Test::More::plan(skip_all => "$client is not built") unless -x $client;
    local $ENV{NODE} = $node;
    my $dir = tempdir('pen-XXXXXX', TMPDIR => 1, CLEANUP => 1);
    # untied, or greedy text is one token again and again
    system('contrib/mkmodel', qw(--layers 2 --width 64 --heads 4 --kv-heads 2),
        qw(--ff 192 --type q8_0 --untied --vocab synthetic:512),
        '--ctx', $o{context} // 4096, @{ $o{mkmodel} // [] },
        '-o', "$dir/tiny.gguf") == 0
        or croak "mkmodel: $?";
    my $self = bless { dir => $dir, model => "$dir/tiny.gguf",
        client => $client, keys => [], asks => [], text => [] }, $class;
    $self->{asks} = [ $self->asks ];
    return $self;
}

# Words of no meaning, n characters of them, the same for the same name.
sub words {
    my ($name, $n) = @_;
    my $x = 7;
    $x = ($x * 31 + ord) % 1_000_003 for split //, $name;
    my $s = '';
    while (length $s < $n) {
        $x = ($x * 69_069 + 12_345) % 2_147_483_647;
        $s .= join '', map { chr 97 + ($x >> 3 * $_) % 26 } 0 .. 2 + $x % 5;
        $s .= $x % 11 ? ' ' : '. ';
    }
    return substr $s, 0, $n;
}

sub chat { return { path => '/v1/chat/completions', body => {@_} } }
sub user { return { role => 'user', content => $_[0] } }
sub assistant { return { role => 'assistant', content => $_[0] } }

sub asks {
    my @asks;
    my $head = { role => 'system', content => words('head', 700) };
    my @talk = ($head);
    push @asks, chat(messages => [ user(words("short $_", 8 + 4 * $_)) ])
        for 1 .. 12;
    push @asks, chat(messages => [ $head, user(words("shared $_", 5 + 9 * $_)) ])
        for 1 .. 12;
    push @asks, chat(messages => [ user(words("long $_", 900 + 130 * $_)) ])
        for 1 .. 5;
    for (1 .. 6) {
        push @talk, user(words("turn $_", 60));
        push @asks, chat(messages => [@talk]);
        push @talk, assistant(words("answer $_", 90));
    }
    push @asks, { path => '/v1/completions',
        body => { prompt => words("plain $_", 150 * $_) } } for 1 .. 5;
    for my $i (0 .. $#asks) {
        my $b = $asks[$i]{body};
        $b->{max_tokens} = 4 + $i * 37 % 149;
        $b->{stream} = $i % 3 ? $yes : $no;
        $b->{temperature} = $i % 2 ? 0 : 0.9;
        $b->{seed} = 1000 + $i;
        $b->{top_k} = 50 if $i % 4 == 0;
        $b->{reasoning_effort} = 'none' if $i % 4 > 1 && $b->{messages};
        $b->{stop} = [ 'bsd', 'qw' ] if $i % 5 == 3; # in its words, often
    }
    push @asks, { %{ chat(messages => [ user('@@@@@@ ' . words("new $_", $_)) ],
        max_tokens => 6, stream => $_ % 2 ? $yes : $no) }, fresh => 1 }
        for 21, 500, 1201;
    # token 65 of a synthetic vocabulary is the byte A: text from the first on
    $asks[-3]{body}{logit_bias} = { 65 => 100 };
    $asks[-3]{body}{reasoning_effort} = 'none';
    return @asks;
}

# n keys in the daemon's database, all of them known to it.
sub keys {
    my ($self, $d, $n) = @_;
    push @{ $self->{keys} }, $d->add_key("load-$_") for 1 .. $n;
    my $end = time + 30;
    while (Pen::Fcgi->request($d->{socket}, uri => '/v1/models', params => {
            HTTP_AUTHORIZATION => "Bearer $self->{keys}[-1]" })->{status} != 200) {
        croak 'the daemon has not seen the last key' if time > $end;
        sleep 0.05;
    }
    return;
}

# asks: their numbers, default all.
sub run {
    my ($self, $d, %o) = @_;
    my @asks = $o{asks} ? @{ $o{asks} } : 0 .. $#{ $self->{asks} };
    my $plan = "$self->{dir}/plan" . ++$self->{plans};
    open my $out, '>', $plan or croak "$plan: $!";
    print $out "key $_\n" for @{ $self->{keys} };
    print $out "ask $_->{path} ", $json->encode($_->{body}), "\n"
        for @{ $self->{asks} }[@asks];
    close $out or croak "$plan: $!";
    my @cmd = ($self->{client}, $d->{socket}, $plan, $o{total} // 0,
        $o{width} // 1, $o{leave} // 0, $o{seed} // 1);
    open my $in, '-|', @cmd or croak "$cmd[0]: $!";
    my @r;
    while (<$in>) {
        chomp;
        my %r;
        @r{@columns} = split /\t/, $_, scalar @columns;
        $r{ask} = $asks[ $r{ask} ];
        push @r, \%r;
    }
    close $in or croak "client: exit $?";
    push @{ $self->{all} }, @r;
    return @r;
}

sub distinct { return scalar @{ $_[0]{asks} } }

# The numbers of requests that are new each time: a short streamed one, one of
# some 500 bytes, and a streamed one of 1,200.
sub fresh {
    my $self = shift;
    return grep { $self->{asks}[$_]{fresh} } 0 .. $#{ $self->{asks} };
}

# For another daemon: its keys and its ledger begin empty; texts stay.
sub clear {
    my $self = shift;
    @$self{qw(keys all)} = ([], []);
    return;
}

# Every request alone on a quiet daemon: the texts that all others must have.
# (In order, so most find nothing of theirs in the cache; again() turns the
# order round, and so what each finds.)
sub alone {
    my ($self, $d) = @_;
    my @r = $self->run($d);
    for my $r (@r) {
        croak "ask $r->{ask}: $r->{how} $r->{status} $r->{text}"
            unless $r->{how} eq 'done' && $r->{status} == 200
            && $r->{finish} =~ /^(?:stop|length)$/;
        @{ $self->{text}[ $r->{ask} ] }{qw(text finish)} = @$r{qw(text finish)};
    }
    return @r;
}

sub again {
    my ($self, $d) = @_;
    return $self->run($d, asks => [ reverse 0 .. $#{ $self->{asks} } ]);
}

# One answer: what is wrong with it, undef: nothing.
sub wrong {
    my ($self, $r) = @_;
    return if $r->{how} eq 'left';
    return "ended $r->{how}" if $r->{how} ne 'done';
    return $r->{retry} =~ /^[1-9]\d*$/ ? undef : '503 without Retry-After'
        if $r->{status} eq '503';
    return "status $r->{status}" if $r->{status} ne '200';
    my $want = $self->{text}[ $r->{ask} ];
    if ($self->{asks}[ $r->{ask} ]{fresh}) {
        return if $r->{finish} =~ /^(?:stop|length)$/;
    }
    return "finish $r->{finish}, alone $want->{finish}"
        if $r->{finish} ne $want->{finish};
    return if $r->{text} eq $want->{text};
    return "another text:\n$r->{text}\nalone:\n$want->{text}";
}

# Does a row say what the client saw?
sub row_wrong {
    my ($r, $row) = @_;
    return 'no row' unless $row;
    my $f = $row->{finish_reason} // 'null';
    return "open" if $row->{state} eq 'open';
    return $f =~ /^(?:abandoned|stop|length|refused)$/ ? undef : "left, $f"
        if $r->{how} eq 'left';
    return $f eq 'refused' && $row->{status} == 503 ? undef : "refused, $f"
        if $r->{status} eq '503';
    return $f eq $r->{finish} && $row->{status} == 200
        ? undef : "$r->{finish}, $f";
}

sub check {
    my ($self, $d, @r) = @_;
    my @bad = map { my $why = $self->wrong($_);
        $why ? "request $_->{number} (ask $_->{ask}): $why" : () } @r;
    Test::More::is(scalar @bad, 0, 'every answer is the one it is alone')
        or Test::More::diag(join "\n", @bad[ 0 .. ($#bad < 4 ? $#bad : 4) ]);
    Test::More::ok($d->wait_load(0, 0, 60), 'nothing runs, nothing waits');
    Test::More::is($d->health->{open}, 0, 'no stream is open');
    return $self->check_ledger($d);
}

# Of all that ran so far.
sub check_ledger {
    my ($self, $d) = @_;
    my ($end, @rows) = time + 60;
    for (;;) {
        @rows = $d->rows("endpoint IN ('chat', 'completions')");
        last if time > $end || @rows >= @{ $self->{all} }
            && !grep { $_->{state} eq 'open' } @rows;
        sleep 0.1;
    }
    Test::More::is(scalar @rows, scalar @{ $self->{all} },
        'the ledger has one row for each request');
    my %row = map { $_->{request_id} => $_ } @rows;
    Test::More::is(scalar CORE::keys(%row), scalar @rows, 'each with its own id');
    my @bad = map { my $why = row_wrong($_, delete $row{ $_->{id} });
        $why ? "request $_->{number}: $why" : () }
        grep { $_->{id} ne '-' } @{ $self->{all} };
    # who left before the first byte does not know its id; its answer may have
    # been on its way
    push @bad, map { 'a row of none of them: ' . $json->encode($_) }
        grep { ($_->{finish_reason} // '')
            !~ /^(?:abandoned|refused|stop|length)$/ } values %row;
    my $unknown = grep { $_->{id} eq '-' && $_->{how} eq 'left' }
        @{ $self->{all} };
    push @bad, CORE::keys(%row) . " rows for $unknown that left early"
        if CORE::keys(%row) != $unknown;
    Test::More::is(scalar @bad, 0, 'with the outcome that the client saw')
        or Test::More::diag(join "\n", @bad[ 0 .. ($#bad < 4 ? $#bad : 4) ]);
    return @rows;
}

1;
