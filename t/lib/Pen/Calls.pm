package Pen::Calls;
# A chat with tools against a daemon, streamed and whole.
#
#   my $s = streamed($daemon, tools => [ function('f', n => 'integer') ]);
#   $s->{calls}[0]{id name arguments}, $s->{deltas}, $s->{content finish};
#   my $w = whole($daemon, ...);       # the same keys, without deltas
#
# A stream is joined by the rules of OpenAI's reference: `bad` says what broke
# them, "" when nothing did.
use strict;
use warnings;
use Exporter 'import';
use JSON::PP ();
use Pen::Fcgi;

our @EXPORT = qw(function streamed whole);
my $json = JSON::PP->new->utf8->canonical;

# A tool; a parameter's schema is a hash or the name of a type.
sub function {
    my ($name, %p) = @_;
    my %schema = map { $_ => ref $p{$_} ? $p{$_} : { type => $p{$_} } } keys %p;
    return { type => 'function', function => { name => $name,
        parameters => { type => 'object', properties => \%schema } } };
}

sub ask {
    my ($d, %body) = @_;
    return Pen::Fcgi->request($d->{socket}, uri => '/v1/chat/completions',
        timeout => 60, body => $json->encode({ reasoning_effort => 'none',
            messages => [ { role => 'user', content => 'Hello' } ], %body }));
}

sub keys_of { return join ',', sort keys %{ $_[0] } }

# One delta into the calls so far; what is wrong with it, or "".
sub add {
    my ($calls, $d) = @_;
    my $f = $d->{function} // {};
    return 'no index' unless defined $d->{index};
    if ($d->{index} == @$calls) {
        return 'the first delta of a call'
            unless keys_of($d) eq 'function,id,index,type'
            && keys_of($f) eq 'arguments,name' && $f->{arguments} eq ''
            && $d->{type} eq 'function';
        push @$calls, { id => $d->{id}, name => $f->{name}, arguments => '' };
        return '';
    }
    return 'a later delta' unless $d->{index} == $#$calls
        && keys_of($d) eq 'function,index' && keys_of($f) eq 'arguments';
    $calls->[-1]{arguments} .= $f->{arguments};
    return '';
}

sub streamed {
    my ($d, %body) = @_;
    my $r = ask($d, %body, stream => JSON::PP::true);
    my %j = (calls => [], content => '', deltas => 0, bad => '');
    for my $event (split /\n\n/, $r->{body}) {
        next if $event =~ /^:/ || $event eq 'data: [DONE]';
        my ($data) = $event =~ /^data: (.*)\z/ or $j{bad} = 'framing';
        my $choice = $json->decode($data // '{}')->{choices}[0] or next;
        $j{content} .= $choice->{delta}{content} // '';
        $j{finish} = $choice->{finish_reason} // $j{finish};
        for my $call (@{ $choice->{delta}{tool_calls} // [] }) {
            $j{deltas}++;
            $j{bad} ||= add($j{calls}, $call);
        }
    }
    return \%j;
}

sub whole {
    my ($d, %body) = @_;
    my $v = $json->decode(ask($d, %body)->{body});
    my $m = $v->{choices}[0]{message};
    my @calls = map { { id => $_->{id}, %{ $_->{function} } } }
        @{ $m->{tool_calls} // [] };
    return { calls => \@calls, content => $m->{content},
        finish => $v->{choices}[0]{finish_reason}, usage => $v->{usage} };
}

1;
