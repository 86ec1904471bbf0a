package Pen::Case;
# One question to a daemon as the cases ask it: FastCGI by hand, temperature
# 0, whole and streamed, chat and completions.
#
#   my $w = whole(chat($d, max_tokens => 5));         # the JSON answer
#   my $s = joined(chat($d, stream => $yes));         # a stream, joined
#   my $w = whole(text($d, force('The fox')));        # completions
#   $w->{text} $w->{reasoning} $w->{finish} $w->{usage}; $s has the same keys
#
# A joined stream also has: chunks (objects in order), usages (chunks with a
# usage object), finishes (all non-null reasons, of all choices, in order),
# done (how many [DONE]), and bad: the first breach of the framing that every
# stream must keep, "" when there is none.
use strict;
use warnings;
use Encode ();
use Exporter 'import';
use JSON::PP ();
use Pen::Daemon;
use Pen::Fcgi;

our @EXPORT = qw(chat text force whole joined counts error need_demo
    $yes $no);
our ($yes, $no) = (JSON::PP::true, JSON::PP::false);
my $json = JSON::PP->new->canonical;

# A usage without what was found in the cache: that depends on who asked
# before.
sub counts {
    my %usage = %{ $_[0] // {} };
    delete $usage{prompt_tokens_details};
    return \%usage;
}

sub need_demo {
    Test::More::plan(skip_all => 'no penstockd: make first')
        unless -x Pen::Daemon::build() . '/penstockd';
    Test::More::plan(skip_all => 'no demo model')
        unless -r $Pen::Daemon::DEMO;
    return;
}

# These fields make any model write exactly this text.
sub force { return (structured_outputs => { choice => [ $_[0] ] }) }

sub ask {
    my ($d, $uri, %body) = @_;
    return Pen::Fcgi->request($d->{socket}, uri => $uri, timeout => 60,
        body => Encode::encode('UTF-8', $json->encode(\%body)));
}

sub chat {
    my ($d, %more) = @_;
    return ask($d, '/v1/chat/completions', temperature => 0,
        messages => [ { role => 'user', content => 'Hi' } ], %more);
}

sub text {
    my ($d, %more) = @_;
    return ask($d, '/v1/completions', temperature => 0, prompt => 'Hi', %more);
}

# UTF-8 to the letter (no surrogates, nothing overlong), then JSON.
sub strictly {
    my ($bytes) = @_;
    my $copy = $bytes;
    return $json->decode(Encode::decode('UTF-8', $copy, Encode::FB_CROAK));
}

sub whole {
    my ($r) = @_;
    my $v = strictly($r->{body});
    my $c = $v->{choices}[0] // {};
    return { %$v, status => $r->{status}, finish => $c->{finish_reason},
        text => $c->{message} ? $c->{message}{content} : $c->{text},
        reasoning => $c->{message}{reasoning_content} // '' };
}

# The error object of an answer; empty when it is none.
sub error {
    my ($r) = @_;
    return eval { strictly($r->{body})->{error} } // {};
}

sub add_chunk {
    my ($j, $c) = @_;
    push @{ $j->{chunks} }, $c;
    $j->{ids}{ $c->{id} // '' } = 1;
    push @{ $j->{usages} }, $c if $c->{usage};
    $j->{usage} = $c->{usage} if $c->{usage};
    for my $choice (@{ $c->{choices} }) {
        return 'no key finish_reason' unless exists $choice->{finish_reason};
        my $finish = $choice->{finish_reason};
        $j->{text} .= $choice->{delta}{content} // $choice->{text} // '';
        $j->{reasoning} .= $choice->{delta}{reasoning_content} // '';
        push @{ $j->{finishes} }, $finish // ();
        return 'a chunk behind the finish'
            if $j->{over}{ $choice->{index} };
        $j->{over}{ $choice->{index} } = defined $finish;
    }
    return '';
}

sub joined {
    my ($r) = @_;
    my %j = (chunks => [], usages => [], finishes => [], done => 0,
        text => '', reasoning => '', status => $r->{status});
    my $bad = $r->{ended} ? '' : 'the request has no end';
    my $body = $r->{body};
    $body =~ s/\n\n\z// or $bad ||= 'the last event has no end';
    for my $event (split /\n\n/, $body, -1) {
        next if $event =~ /\A: [^\n]*\z/;
        my ($data) = $event =~ /\Adata: ([^\n]*)\z/;
        $bad ||= "no data line: $event" unless defined $data;
        $bad ||= "behind [DONE]: $event" if $j{done};
        last if $bad;
        $j{done}++, next if $data eq '[DONE]';
        my $c = eval { strictly($data) };
        $bad ||= $c ? add_chunk(\%j, $c) : "no JSON in UTF-8: $data";
    }
    $bad ||= 'more ids than one' if keys %{ $j{ids} // {} } > 1;
    $j{finish} = $j{finishes}[-1];
    return { %j, bad => $bad };
}

1;
