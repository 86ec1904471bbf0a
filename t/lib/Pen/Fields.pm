package Pen::Fields;
# Every row of `penstock compat` by its rule: each value of a file of probes is
# sent to a daemon and answered as the file says, a refusal names its place,
# and where a field does something it is seen.
#
#   Pen::Fields::check('t/data/api/fields.tsv', qw(chat completions));
#
# A line: field, wire (or both: chat and completions), value, status and the
# field that a refusal names, effect, the rest of the body. Effects are below;
# `-`: only the status. They look at answers as chat writes them: what another
# dialect answers is read into that form by its `view`.
use strict;
use warnings;
use JSON::PP ();
use MIME::Base64 ();
use Pen::Case qw(counts);
use Pen::Daemon;
use Pen::Fcgi;
use Test::More;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $asked = 'What is the capital of France?';
my %dialect = (
    chat => { path => '/v1/chat/completions', limit => 'max_tokens',
        thinks => { reasoning_effort => 'high' },
        base => { messages => [ { role => 'user', content => $asked } ] } },
    completions => { path => '/v1/completions', limit => 'max_tokens',
        base => { prompt => 'The capital of France is' } },
    responses => { path => '/v1/responses', limit => 'max_output_tokens',
        thinks => { reasoning => { effort => 'high' } },
        base => { input => $asked }, view => \&of_response },
    messages => { path => '/v1/messages', limit => 'max_tokens',
        thinks => { thinking => { type => 'adaptive' } },
        base => { messages => [ { role => 'user', content => $asked } ] },
        view => \&of_message, fault => \&of_fault },
);
my $d; # the daemon

sub texts { join '', map { $_->{text} } @{ $_[0]{content} // [] } }

sub of_response {
    my ($o) = @_;
    my %is = (reasoning => [], message => [], function_call => []);
    push @{ $is{ $_->{type} } }, $_ for @{ $o->{output} };
    my @calls = map { { function =>
        { name => $_->{name}, arguments => $_->{arguments} } } }
        @{ $is{function_call} };
    my @logprobs = map { @{ $_->{logprobs} // [] } }
        map { @{ $_->{content} } } @{ $is{message} };
    my $finish = $o->{status} eq 'incomplete' ? 'length'
        : @calls && ref $o->{tool_choice} ne 'HASH' ? 'tool_calls' : 'stop';
    my %usage = (prompt_tokens => $o->{usage}{input_tokens},
        completion_tokens => $o->{usage}{output_tokens});
    return { model => $o->{model}, usage => \%usage, object => $o,
        choices => [ { finish_reason => $finish,
            logprobs => { content => \@logprobs },
            message => { content => join('', map { texts($_) }
                    @{ $is{message} }),
                reasoning_content => join('', map { texts($_) }
                    @{ $is{reasoning} }),
                @calls ? (tool_calls => \@calls) : () } } ] };
}

my %finish = (end_turn => 'stop', stop_sequence => 'stop',
    max_tokens => 'length', tool_use => 'tool_calls');
sub of_message {
    my ($o) = @_;
    my %is = (thinking => [], text => [], tool_use => []);
    push @{ $is{ $_->{type} } }, $_ for @{ $o->{content} };
    my @calls = map { { function => { name => $_->{name},
        arguments => $json->encode($_->{input}) } } } @{ $is{tool_use} };
    my %usage = (completion_tokens => $o->{usage}{output_tokens},
        prompt_tokens => $o->{usage}{input_tokens}
            + $o->{usage}{cache_read_input_tokens});
    return { model => $o->{model}, usage => \%usage, object => $o,
        choices => [ { finish_reason => $finish{ $o->{stop_reason} },
            message => {
                content => join('', map { $_->{text} } @{ $is{text} }),
                reasoning_content => join('', map { $_->{thinking} }
                    @{ $is{thinking} }),
                @calls ? (tool_calls => \@calls) : () } } ] };
}

# Errors of /v1/messages name the field at the head of their message; what
# the package's tool loop wants to know of threads is in details.
sub of_fault {
    my ($o) = @_;
    my $e = $o->{error};
    my ($param) = $e->{message} =~ /^([\w.\[\]]+): /;
    my %is = %$e;
    is_deeply delete $is{details}, { error_code => 'thread_unsupported_request' },
        'the details of an error' if ($param // '') eq 'thread';
    is join(',', sort(keys %$o), sort keys %is),
        'error,request_id,type,message,type', 'the shape of an error';
    return { error => { %is, param => $param, code => undef } };
}

# `more` on top of `to`, object by object; neither is changed.
sub merge {
    my ($to, $more) = @_;
    my %all = %$to;
    for my $k (keys %$more) {
        $all{$k} = ref $all{$k} eq 'HASH' && ref $more->{$k} eq 'HASH'
            ? merge($all{$k}, $more->{$k}) : $more->{$k};
    }
    return \%all;
}

# The value as a member of the body: a.b.c is an object in an object.
sub member {
    my ($field, $value) = @_;
    $value = { $_ => $value } for reverse split /\./, $field;
    return $value;
}

my %kept; # what a body was answered with: many probes share their base
sub ask {
    my ($p, $body) = @_;
    my $text = $json->encode($body);
    return $kept{"$p->{wire} $text"} //= do {
        my $r = Pen::Fcgi->request($d->{socket}, method => 'POST',
            uri => $dialect{ $p->{wire} }{path}, timeout => 120,
            body => $text);
        my $view = $dialect{ $p->{wire} }{view};
        $r->{json} = eval { $json->decode($r->{body}) };
        $r->{json} = $view->($r->{json})
            if $view && $r->{status} == 200 && $r->{json};
        my $fault = $dialect{ $p->{wire} }{fault};
        $r->{json} = $fault->($r->{json}) if $fault && $r->{status} != 200;
        $r->{choice} = $r->{json}{choices}[0] if ref $r->{json} eq 'HASH';
        $r;
    };
}

# The answer with the field and without it, long enough for its effect.
my %long = (thinks => 32, silent => 32, tags => 32, field => 32, both => 32,
    calls => 48, called => 48, 'no-calls' => 48, forces => 64, sealed => 48,
    omitted => 48,
    forced => 48, capital => 96,
    matches => 32, object => 48, budget => 96, stops => 16);
sub with { ask($_[0], merge(without_body($_[0]), $_[0]{member})) }
sub without { ask($_[0], without_body($_[0])) }
sub without_body {
    my $p = shift;
    my $is = $dialect{ $p->{wire} };
    my %most = exists $p->{member}{max_completion_tokens}
        ? () : ($is->{limit} => $long{ $p->{effect} } // 8);
    return merge(merge({ %{ $is->{base} }, temperature => 0 }, \%most),
        $p->{more});
}

sub text {
    my $c = $_[0]{choice} // {};
    return ($c->{message} ? $c->{message}{content} : $c->{text}) // '';
}
sub thought { (($_[0]{choice} // {})->{message} // {})->{reasoning_content} // '' }
sub told { $json->encode([ $_[0]{json}{choices}, counts($_[0]{json}{usage}) ]) }
sub chunks {
    return map { $json->decode($_) }
        grep { $_ ne '[DONE]' } $_[0]{body} =~ /^data: (.*)$/mg;
}
sub usages { scalar grep { $_->{usage} } chunks($_[0]) }

# Each effect: true when it shows; [] is a pair that has to be equal.
my %effect = (
    same => sub { [ map { told($_) =~ s/"call_\w+"//gr } with($_), without($_) ] },
    differs => sub { text(with($_)) . thought(with($_))
        ne text(without($_)) . thought(without($_)) },
    greedy => sub { [ text(ask($_, merge(merge(without_body($_),
        { temperature => 1, seed => 7 }), $_->{member}))), text(without($_)) ] },
    repeats => sub {
        my $first = told(with($_));
        %kept = ();
        [ told(with($_)), $first ];
    },
    more => sub { with($_)->{json}{usage}{prompt_tokens}
        > without($_)->{json}{usage}{prompt_tokens} },
    choices => sub { [ scalar @{ with($_)->{json}{choices} },
        ref $_->{value} ? scalar @{ $_->{value} } : $_->{value} ] },
    model => sub { [ with($_)->{json}{model}, 'demo' ] },
    capped => sub { [ with($_)->{json}{usage}{completion_tokens}, $_->{value} ] },
    stops => sub {
        my ($got, $all) = map { text($_) } with($_), without($_);
        [ "$got stop", ($all =~ /^(.*?) is/s)[0] . ' '
            . with($_)->{choice}{finish_reason} ];
    },
    token => sub { text(with($_)) =~ /^(?: ?Paris)+$/ },
    logprobs => sub {
        my ($r, $l) = (with($_), with($_)->{choice}{logprobs});
        [ join('', $l->{content} ? map { $_->{token} } @{ $l->{content} }
            : @{ $l->{tokens} }), text($r) ];
    },
    alternatives => sub {
        my ($n, $all) = ($_->{value}, with($_)->{choice}{logprobs}{content});
        @$all && !grep { @{ $_->{top_logprobs} } != $n } @$all;
    },
    stream => sub { [ with($_)->{headers}{'content-type'},
        'text/event-stream; charset=utf-8' ] },
    'usage-default' => sub { (chunks(with($_)))[-1]{choices}[0]{finish_reason}
        && usages(with($_)) == 1 },
    'usage-own' => sub { !@{ (chunks(with($_)))[-1]{choices} }
        && usages(with($_)) == 1 },
    'usage-none' => sub { [ usages(with($_)), 0 ] },
    thinks => sub { length thought(with($_)) },
    silent => sub { thought(without($_)) ne '' && thought(with($_)) eq ''
        && text(with($_)) =~ /^\S/ },
    budget => sub { # the head of the reasoning it would have had, an answer
        my $r = with($_);
        my $whole = thought(with({ %$_,
            member => $dialect{ $_->{wire} }{thinks} }));
        my $head = substr thought($r), 0, 8;
        $whole =~ /^\Q$head\E/ && thought($r) ne $whole && text($r) =~ /^\S/;
    },
    tags => sub { !exists with($_)->{choice}{message}{reasoning_content}
        && text(with($_)) =~ /^<think>\n\S/ },
    field => sub { thought(with($_)) =~ /^\S/ && text(with($_)) !~ /think>/ },
    both => sub { thought(with($_)) =~ /^\S/
        && text(with($_)) =~ /^<think>\n\S/ },
    forces => sub {
        my ($v, $got) = ($_->{value}, text(with($_)));
        grep { $_ eq $got } @{ ref $v eq 'HASH' ? $v->{choice} : $v };
    },
    # an object, whole or cut by the limit
    object => sub { text(with($_)) =~ /^\s*(?:\{|\z)/
        && (with($_)->{choice}{finish_reason} eq 'length'
            || ref eval { $json->decode(text(with($_))) } eq 'HASH') },
    capital => sub {
        my $v = eval { $json->decode(text(with($_))) } // {};
        join(',', keys %$v) eq 'capital'
            && $v->{capital} =~ /^(?:Paris|Rome)$/;
    },
    matches => sub { text(with($_)) =~ /^(?:$_->{value})$/ },
    calls => sub { [ with($_)->{choice}{finish_reason}, 'tool_calls' ] },
    called => sub { [ join('+', map { $_->{function}{name} }
        @{ with($_)->{choice}{message}{tool_calls} }) . ' '
        . with($_)->{choice}{finish_reason}, 'set_timer stop' ] },
    forced => sub { [ join('+', map { $_->{function}{name} }
        @{ with($_)->{choice}{message}{tool_calls} }), 'set_timer' ] },
    sealed => sub { # base64url of what is there in the open, too
        my ($r) = grep { $_->{type} eq 'reasoning' }
            @{ with($_)->{json}{object}{output} };
        [ $r->{encrypted_content},
            'pen1.' . MIME::Base64::encode_base64url(texts($r)) ];
    },
    omitted => sub { # no text, but the seal of what it would have been
        my ($r) = grep { $_->{type} eq 'thinking' }
            @{ with($_)->{json}{object}{content} };
        [ $r->{thinking} . $r->{signature}, 'pen1.'
            . MIME::Base64::encode_base64url(thought(without($_))) ];
    },
    'no-calls' => sub { !with($_)->{choice}{message}{tool_calls} },
);

# One line; %$seen: wire, field -> { accepted, refused, same }.
sub probe {
    my ($seen, $wire, $field, $value, $want, $effect, $more) = @_;
    my ($status, $param) = split / /, $want;
    my $is = $dialect{$wire};
    my $p = { wire => $wire, value => $json->decode($value),
        effect => $effect, more => $json->decode($more) };
    $p->{member} = member($field, $p->{value});
    my $name = "$wire: $field " . substr($value, 0, 60);
    my $body = merge({ %{ $is->{base} }, temperature => 0,
        $is->{limit} => 1 }, $p->{more});
    delete $body->{max_tokens} if $field eq 'max_completion_tokens'
        && !$p->{more}{max_tokens};
    my $r = ask($p, merge($body, $p->{member}));
    my $e = ref $r->{json} eq 'HASH' ? $r->{json}{error} : undef;
    is join(' ', $r->{status}, $e ? $e->{param} // 'null' : ()), $want,
        "$name: $want" or diag $r->{body};
    if ($status == 400) {
        is "$e->{type} " . join(',', sort keys %$e),
            'invalid_request_error code,message,param,type',
            "$name: the error";
        ok index($e->{message}, $param) >= 0, "$name: the message says it";
    }
    return if $status == 404;
    $seen->{"$wire $field"}{ $status == 200 ? 'accepted' : 'refused' } = 1;
    return if $effect eq '-';
    $seen->{"$wire $field"}{same} = 1 if $effect eq 'same';
    my $shown = do { local $_ = $p; ($effect{$effect} or die
        "no effect $effect")->() };
    if (ref $shown) {
        is $shown->[0], $shown->[1], "$name: $effect";
    } else {
        ok $shown, "$name: $effect" or diag with($p)->{body};
    }
    return;
}

my %need = (honoured => [qw(accepted refused)],
    extension => [qw(accepted refused)], refused => [qw(accepted refused)],
    neutral => [qw(accepted same)]);

# Every row of the wires has its probes, and every probe its row.
sub rows {
    my ($seen, @wires) = @_;
    my $build = Pen::Daemon::build();
    my $table = $json->decode(scalar qx{$build/penstock compat --json});
    my %rows;
    cmp_ok scalar @{ $table->{fields} }, '>=', 60, 'at least 60 fields';
    for my $row (@{ $table->{fields} }) {
        for my $wire (grep { $row->{$_} } @wires) {
            $rows{"$wire $row->{field}"} = 1;
            my $has = $seen->{"$wire $row->{field}"} // {};
            is_deeply [ grep { !$has->{$_} } @{ $need{ $row->{$wire} } } ],
                [], "$wire: $row->{field}, $row->{$wire}, has its probes";
        }
    }
    is_deeply [ grep { !$rows{$_} } sort keys %$seen ], [],
        'no probe of a field that is not in the table';
    return;
}

# The whole test, to done_testing.
sub check {
    my ($file, @wires) = @_;
    my $build = Pen::Daemon::build();
    my %seen;
    plan skip_all => "no $build/penstockd: make first"
        unless -x "$build/penstockd";
    plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
    $d = Pen::Daemon->start(args => { thinking => 'off', threads => 1 });
    open my $in, '<', $file or die "$file: $!";
    while (my $line = <$in>) {
        next if $line =~ /^(#|$)/;
        chomp $line;
        my ($field, $wires, @rest) = split /\t/, $line;
        probe(\%seen, $_, $field, @rest)
            for $wires eq 'both' ? qw(chat completions) : $wires;
    }
    rows(\%seen, @wires);
    is $d->stop, 0, 'the daemon ends with 0';
    undef $d;
    return done_testing;
}

1;
