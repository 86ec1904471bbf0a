# Case C08: usage stands once in a stream: in a chunk of its own when asked
# for, nowhere when refused, and else where usage-default says.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();

# Where usage is: "own" (behind the finish, choices empty), "finish", "none".
sub place {
    my ($s) = @_;
    return 'none' unless @{ $s->{usages} };
    return 'more than one' if @{ $s->{usages} } > 1;
    my ($u, $last) = ($s->{usages}[0], $s->{chunks}[-1]);
    return 'not in the last chunk' unless $u == $last;
    return 'own' unless @{ $u->{choices} };
    return defined $u->{choices}[0]{finish_reason} ? 'finish' : 'early';
}

for my $default (qw(on off)) {
    my $d = Pen::Daemon->start(args => { thinking => 'off',
        'usage-default' => $default });
    my $else = $default eq 'on' ? 'finish' : 'none';
    for my $ask ([ chat => \&chat ], [ completions => \&text ]) {
        my ($name, $do) = @$ask;
        for my $c ([ $else ], [ $else, {} ],
            [ none => { include_usage => $no } ],
            [ own => { include_usage => $yes } ],
            [ $else, { include_usage => undef } ], [ $else, undef ]) {
            my ($want, @options) = @$c;
            my $s = joined($do->($d, max_tokens => 6, stream => $yes,
                @options ? (stream_options => $options[0]) : ()));
            is $s->{bad}, '', 'a stream';
            is place($s), $want, "$name, usage-default $default: $want";
            my $u = $s->{usage} or next;
            is $u->{prompt_tokens} + $u->{completion_tokens},
                $u->{total_tokens}, 'the sum';
            my $w = whole($do->($d, max_tokens => 6));
            is_deeply counts($u), counts($w->{usage}), 'as in the whole answer';
        }
    }
    is $d->stop, 0, 'ends well';
}
done_testing;
