# Case C09: text before a call, and still one finish reason: tool_calls.
# Behind it come only usage and [DONE].
use strict;
use warnings;
use lib 't/lib';
use Test::More;
use Pen::Calls ();
use Pen::Case;

plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my $call = "<tool_call>\n<function=add>\n<parameter=a>\n2\n</parameter>\n"
    . "</function>\n</tool_call>";
my @tools = (tools => [ Pen::Calls::function('add', a => 'integer') ],
    reasoning_effort => 'none');
my %script = (
    'a sentence, then a call' => [ "Let me add that.\n$call", 'tool_calls' ],
    'a call' => [ $call, 'tool_calls' ],
    'two calls' => [ "First.\n$call\n$call", 'tool_calls' ],
    'no call' => [ 'I know that: 4.', 'stop' ],
);
for my $name (sort keys %script) {
    my ($text, $finish) = @{ $script{$name} };
    my $d = Pen::Daemon->scripted(env => { PENSTOCK_SCRIPT => "$text<|im_end|>",
        PENSTOCK_SCRIPT_MARKUP => 1 });
    for my $choice (undef, 'auto') {
        for my $usage ($yes, $no) {
            my $s = joined(chat($d, @tools, stream => $yes,
                stream_options => { include_usage => $usage },
                $choice ? (tool_choice => $choice) : ()));
            is $s->{bad}, '', "$name: one finish, nothing of the choice behind it";
            is_deeply $s->{finishes}, [$finish], 'its value';
            is $s->{done}, 1, '[DONE] once';
            my @chunks = @{ $s->{chunks} };
            my ($at) = grep { $chunks[$_]{choices}[0]
                && defined $chunks[$_]{choices}[0]{finish_reason} } 0 .. $#chunks;
            is $#chunks - $at, $usage ? 1 : 0, 'behind it only usage';
            is_deeply [ map { @{ $_->{choices} } } @chunks[ $at + 1 .. $#chunks ] ],
                [], 'without a choice';
        }
    }
    is whole(chat($d, @tools))->{finish}, $finish, 'the same whole';
    is $d->stop, 0, 'ends well';
}

# In streams without tools too.
my $d = Pen::Daemon->scripted;
for my $do (\&chat, \&text) {
    my $s = joined($do->($d, stream => $yes, max_tokens => 5));
    is $s->{bad}, '', 'no tools';
    is_deeply $s->{finishes}, ['length'], 'one finish';
}
is $d->stop, 0, 'ends well';
done_testing;
