package Pen::Parts;
# One question to /v1/responses or /v1/messages, FastCGI by hand, and its
# answer as a list of parts, whole or streamed.
#
#   my $p = responses($d, input => 'Hi', stream => $yes);
#   my $p = messages($d, messages => [..], max_tokens => 5);
#   $p->{parts}   [ [ 'reasoning', TEXT ], [ 'text', TEXT ],
#                   [ 'call', NAME, ARGUMENTS as canonical JSON ] ]
#   $p->{text} $p->{reasoning} $p->{calls}   joined; calls is a list
#   $p->{status} $p->{end} $p->{usage} $p->{id} $p->{object} $p->{raw}
#   $p->{prompt}  tokens of the prompt, cached ones too
#   $p->{bad}     the first breach of a stream's order, "" when there is none
#
# `end`: stop_reason, or status and the reason of what is incomplete; an error
# in a stream is "error TYPE". $p->{events}: names and objects, in order.
# ask($d, PATH, BODY, PARAMS) sends without waiting; parts_of(WIRE, RESPONSE)
# reads what came.
use strict;
use warnings;
use Encode ();
use Exporter 'import';
use JSON::PP ();
use Pen::Fcgi;

our @EXPORT = qw(responses messages send_ask parts_of);
my $json = JSON::PP->new->canonical->allow_nonref;
my %path = (responses => '/v1/responses', messages => '/v1/messages',
    chat => '/v1/chat/completions');

# A text is JSON already.
sub body_of {
    return Encode::encode('UTF-8', ref $_[0] ? $json->encode($_[0]) : $_[0]);
}

# A request that is under way: parts_of($wire, $f->response(60)).
sub send_ask {
    my ($d, $wire, $body, $params) = @_;
    my $f = Pen::Fcgi->connect($d->{socket}) or die "connect: $!";
    $f->send_request(uri => $path{$wire}, body => body_of($body),
        params => $params // {});
    return $f;
}

sub ask {
    my ($d, $wire, %body) = @_;
    return parts_of($wire, send_ask($d, $wire, \%body)->response(60));
}
sub responses { my ($d, %b) = @_; return ask($d, 'responses', %b) }
sub messages { my ($d, %b) = @_; return ask($d, 'messages', %b) }

sub strictly {
    my $copy = $_[0];
    return $json->decode(Encode::decode('UTF-8', $copy, Encode::FB_CROAK));
}

sub arguments {
    my ($text) = @_;
    my $v = eval { $json->decode($text) };
    return defined $v ? $json->encode($v) : $text;
}

# --- whole objects --------------------------------------------------------

sub of_message {
    my ($m) = @_;
    return [ map {
        $_->{type} eq 'text' ? [ 'text', $_->{text} ]
            : $_->{type} eq 'thinking' ? [ 'reasoning', $_->{thinking} ]
            : [ 'call', $_->{name}, $json->encode($_->{input}) ]
    } @{ $m->{content} } ];
}

sub of_response {
    my ($r) = @_;
    return [ map {
        my $text = join '', map { $_->{text} } @{ $_->{content} // [] };
        $_->{type} eq 'message' ? [ 'text', $text ]
            : $_->{type} eq 'reasoning' ? [ 'reasoning', $text ]
            : [ 'call', $_->{name}, arguments($_->{arguments}) ]
    } @{ $r->{output} } ];
}

sub end_of {
    my ($wire, $o) = @_;
    return $o->{stop_reason} if $wire eq 'messages';
    return join ' ', grep { defined } $o->{status},
        ($o->{incomplete_details} // {})->{reason};
}

# --- streams --------------------------------------------------------------

sub message_event {
    my ($p, $e) = @_;
    my ($type, $now) = ($e->{type}, $p->{now});
    if ($type eq 'message_start') {
        return 'a second start' if $p->{object};
        $p->{object} = $e->{message};
        $p->{usage} = { %{ $e->{message}{usage} } };
        return 'content at the start' if @{ $e->{message}{content} };
    } elsif ($type eq 'content_block_start') {
        return 'a block inside a block' if $now;
        return 'an index' if $e->{index} != @{ $p->{parts} };
        my $b = $e->{content_block};
        $p->{now} = { text => '', type => $b->{type}, name => $b->{name} };
    } elsif ($type eq 'content_block_delta') {
        return 'a delta outside' unless $now;
        my $d = $e->{delta};
        my ($text) = grep { defined } @$d{qw(text thinking partial_json)};
        return 'an empty delta' if defined $text && $text eq '';
        $now->{text} .= $text // '';
        $p->{signature} = $d->{signature} if $d->{signature};
    } elsif ($type eq 'content_block_stop') {
        return 'a stop outside' unless $now;
        push @{ $p->{parts} }, $now->{type} eq 'text' ? [ 'text', $now->{text} ]
            : $now->{type} eq 'thinking' ? [ 'reasoning', $now->{text} ]
            : [ 'call', $now->{name}, arguments($now->{text}) ];
        delete $p->{now};
    } elsif ($type eq 'message_delta') {
        return 'an end inside a block' if $now;
        $p->{end} = $e->{delta}{stop_reason};
        $p->{usage} = { %{ $p->{usage} }, %{ $e->{usage} } };
    } elsif ($type eq 'message_stop') {
        return 'no end' unless $p->{end};
        $p->{over} = 1;
    } elsif ($type eq 'error') {
        $p->{end} = "error $e->{error}{type}";
        $p->{over} = 1;
    } elsif ($type ne 'ping') {
        return "an event $type";
    }
    return '';
}

sub response_event {
    my ($p, $e) = @_;
    my ($type, $n) = ($e->{type}, scalar @{ $p->{events} });
    return "sequence number $e->{sequence_number}, not $n"
        if $e->{sequence_number} != $n;
    if ($type eq 'response.output_item.added') {
        return 'an item inside an item' if $p->{now};
        return 'an index' if $e->{output_index} != @{ $p->{parts} };
        $p->{now} = { text => '', id => $e->{item}{id} };
    } elsif ($type =~ /\.delta$/) {
        return 'a delta outside' unless $p->{now};
        return 'an empty delta' if $e->{delta} eq '';
        return 'an item' if $e->{item_id} ne $p->{now}{id};
        $p->{now}{text} .= $e->{delta};
    } elsif ($type eq 'response.output_item.done') {
        return 'a stop outside' unless $p->{now};
        my ($part) = @{ of_response({ output => [ $e->{item} ] }) };
        my $text = $part->[0] eq 'call' ? arguments($p->{now}{text})
            : $p->{now}{text};
        return 'an item that is not its deltas' if $part->[-1] ne $text;
        push @{ $p->{parts} }, $part;
        delete $p->{now};
    } elsif ($type =~ /^response\.(?:completed|incomplete|failed)$/) {
        return 'an end inside an item' if $p->{now};
        $p->{object} = $e->{response};
        $p->{usage} = $e->{response}{usage};
        $p->{end} = $type eq 'response.failed'
            ? "error $e->{response}{error}{code}"
            : end_of('responses', $e->{response});
        $p->{over} = 1;
        return 'the last object has other items' if $json->encode(
            of_response($e->{response})) ne $json->encode($p->{parts});
    }
    return '';
}

sub stream {
    my ($wire, $p, $body) = @_;
    my $bad = $body =~ s/\n\n\z// ? '' : 'the last event has no end';
    for my $event (split /\n\n/, $body, -1) {
        push @{ $p->{comments} }, $event and next
            if $event =~ /\A: [^\n]*\z/;
        my ($name, $data) = $event =~ /\Aevent: ([^\n]*)\ndata: ([^\n]*)\z/;
        my $e = defined $data && eval { strictly($data) };
        $bad ||= "no event: $event" unless $e;
        $bad ||= "its name is not its type: $event"
            if $e && $e->{type} ne $name;
        $bad ||= "behind the last event: $event" if $p->{over};
        last if $bad;
        $bad ||= $wire eq 'messages' ? message_event($p, $e)
            : response_event($p, $e);
        push @{ $p->{events} }, [ $name, $e ];
    }
    return $bad || ($p->{over} ? '' : 'no last event');
}

# --- both -----------------------------------------------------------------

sub parts_of {
    my ($wire, $r) = @_;
    my %p = (parts => [], events => [], comments => [], bad => '', end => '',
        status => $r->{status}, headers => $r->{headers}, raw => $r->{body});
    if (($r->{headers}{'content-type'} // '') =~ /event-stream/) {
        $p{bad} = stream($wire, \%p, $r->{body});
    } else {
        $p{object} = strictly($r->{body});
        $p{error} = $p{object}{error} if $r->{status} != 200;
        @p{qw(parts usage)} = ($wire eq 'messages' ? of_message($p{object})
            : of_response($p{object}), $p{object}{usage})
            if $r->{status} == 200;
        $p{end} = end_of($wire, $p{object}) // '';
    }
    $p{bad} ||= 'the request has no end' unless $r->{ended};
    $p{id} = $p{object}{id} // '';
    my $u = $p{usage} // {};
    $p{prompt} = ($u->{input_tokens} // 0) + ($u->{cache_read_input_tokens} // 0);
    for my $kind ('text', 'reasoning') {
        $p{$kind} = join '', map { $_->[1] } grep { $_->[0] eq $kind }
            @{ $p{parts} };
    }
    $p{calls} = [ map { [ @$_[ 1, 2 ] ] } grep { $_->[0] eq 'call' }
        @{ $p{parts} } ];
    return \%p;
}

1;
