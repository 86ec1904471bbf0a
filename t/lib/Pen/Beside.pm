package Pen::Beside;
# A long request on the demo model, for as long as others are asked: it must
# not notice them.
#
#   my $alone = Pen::Beside->start($d)->text;    # some seconds
#   my $long = Pen::Beside->start($d);           # returns when it runs
#   ...; ok $long->runs; is $long->text, $alone;
use strict;
use warnings;
use JSON::PP ();
use Pen::Fcgi;

my $json = JSON::PP->new->utf8->canonical;
my $tokens = $ENV{PENSTOCK_SANITIZER} ? 250 : 3500;

# The control tokens are the vocabulary's last nine: without them it goes on
# to its limit. Not streamed: nobody has to read while it runs.
sub start {
    my ($class, $d) = @_;
    my $self = bless { d => $d, f => Pen::Fcgi->connect($d->{socket}) }, $class;
    $self->{f}->send_request(uri => '/v1/completions', body => $json->encode({
        prompt => 'Once upon a time', temperature => 1, seed => 3,
        max_tokens => $tokens, logit_bias => { map { $_ => -100 } 3063 .. 3071 },
    }));
    my $end = time + 60;
    select undef, undef, undef, 0.002 until $self->runs || time > $end;
    return $self;
}

sub runs { return $_[0]{d}->health->{running} > 0 }

sub text {
    my $self = shift;
    my $r = $self->{f}->response(300);
    my $c = eval { $json->decode($r->{body})->{choices}[0] } // {};
    return "$r->{status} " . ($c->{finish_reason} // 'none') . ' '
        . ($c->{text} // '');
}

1;
