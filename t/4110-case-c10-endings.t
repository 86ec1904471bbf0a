# Case C10: a stream that ends by end-of-text, by a stop string or by
# max_tokens has the whole ending: role first, finish_reason in every chunk
# and not null in the last, [DONE] once, one id.
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Case;

need_demo();
my $d = Pen::Daemon->start(args => { thinking => 'off' });
my $fox = 'The quick brown fox jumps';
my %end = (
    'end of text' => [ 'stop', force($fox) ],
    'the end that a model chooses' => [ 'stop', messages => [ { role => 'user',
        content => 'What is the capital of France?' } ] ],
    'a stop string' => [ 'stop', force($fox), stop => 'fox' ],
    'a stop string as the first text' => [ 'stop', force($fox), stop => 'The' ],
    'max_tokens' => [ 'length', force($fox), max_tokens => 3 ],
    'one token' => [ 'length', max_tokens => 1 ],
);
for my $name (sort keys %end) {
    my ($finish, %body) = @{ $end{$name} };
    for my $ask ([ chat => \&chat ], [ completions => \&text ]) {
        my ($route, $do) = @$ask;
        next if $route ne 'chat' && $body{messages};
        my $r = $do->($d, %body, stream => $yes);
        my $s = joined($r);
        # joined: the key is in every chunk, ids are one, nothing behind
        is $s->{bad}, '', "$route, $name: framing";
        is_deeply $s->{finishes}, [$finish], "finish_reason $finish, once";
        my $last = (grep { @{ $_->{choices} } } @{ $s->{chunks} })[-1];
        is $last->{choices}[0]{finish_reason}, $finish, 'in the last chunk';
        is $s->{done}, 1, '[DONE] once';
        like $r->{body}, qr/\ndata: \[DONE\]\n\n\z/, 'as the last bytes';
        ok $r->{ended}, 'and the request ends';
        like $s->{chunks}[0]{id}, $route eq 'chat' ? qr/^chatcmpl-\w{24}$/
            : qr/^cmpl-\w{24}$/, 'the id';
        is $r->{headers}{'x-request-id'}, $s->{chunks}[0]{id}, 'in the head too';
        is_deeply [ map { $_->{object} } @{ $s->{chunks} } ],
            [ ($route eq 'chat' ? 'chat.completion.chunk' : 'text_completion')
                x @{ $s->{chunks} } ], 'object';
        next if $route ne 'chat';
        my @role = grep { exists $s->{chunks}[$_]{choices}[0]
            && exists $s->{chunks}[$_]{choices}[0]{delta}{role} }
            0 .. $#{ $s->{chunks} };
        is "@role", '0', 'the role in the first chunk only';
        is $s->{chunks}[0]{choices}[0]{delta}{role}, 'assistant', 'assistant';
    }
}
is $d->stop, 0, 'ends well';
done_testing;
