# No field of a caller becomes structure, in any format: every string of a
# request (contents, names, tool names, descriptions, schemas, arguments, their
# keys, ids, results, reasoning, template variables) carries each special token
# of the vocabulary once, spelled out, and the prompt has exactly the special
# ids that it has without them.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use JSON::PP;

my $build = $ENV{BUILD} // 'build';
my $node  = -x 't/js/node_modules/.bin/node' ? 't/js/node_modules/.bin/node'
    : (grep { -x } map { "$_/node" } split /:/, $ENV{PATH})[0];
plan skip_all => "$build/penstock is not built" unless -x "$build/penstock";
plan skip_all => 'no node on this machine' unless $node;
$ENV{NODE} = $node;

my $dir  = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->utf8->canonical;
my $base = 400; # ids from here on are special

# Words that validation chooses, not the caller.
my %ours = map { $_ => 1 } qw(role type tool_choice reasoning_effort);

my %schema = (
    type => 'object', title => 'ti',
    properties => {
        city => { type => 'string', description => 'de', enum => ['Ulm'] },
        days => { type => 'integer', default => 3 },
        note => { type => 'object', properties => { x => { type => 'null' } } },
    },
    required => ['city'],
);
sub call {
    my ($id, $name, $args) = @_;
    return { id => $id, type => 'function',
        function => { name => $name, arguments => $args } };
}
my %request = (
    messages => [
        { role => 'system', content => 'be kind' },
        { role => 'user', name => 'ann', content => 'how is Ulm?' },
        { role => 'assistant', content => 'I look', reasoning_content => 'hm',
            tool_calls => [call('functions.look:0', 'look',
                { city => 'Ulm', days => 3, note => { k => 'v', l => ['w'] } }),
            ] },
        { role => 'tool', tool_call_id => 'functions.look:0', name => 'look',
            content => 'rain' },
        { role => 'assistant', content => undef,
            tool_calls => [call('functions.look:1', 'look', { city => 'Oulu' })] },
        { role => 'tool', tool_call_id => 'functions.look:1',
            content => '{"sky":"grey"}' },
        { role => 'assistant', content => 'It rains.' },
        { role => 'user', content => [{ type => 'text', text => 'and' },
            { type => 'text', text => 'now' }] },
    ],
    tools => [
        { type => 'function', function => { name => 'look',
            description => 'looks', parameters => \%schema } },
        { type => 'function', function => { name => 'rest' } },
    ],
    chat_template_kwargs => { tone => 'dry', date_string => 'today',
        list => ['a'] },
    stop => ['END'],
);

# A format that writes names into quotes may refuse them, by the field.
our $plain_names = 0;

# Every string with `mark` behind it, and every key that a caller chose.
sub forged {
    my ($v, $mark, $key, $free) = @_;
    $key //= '';
    if (ref $v eq 'ARRAY') {
        return [map { forged($_, $mark, $key, $free) } @$v];
    }
    if (ref $v eq 'HASH') {
        my %out;
        for my $k (keys %$v) {
            my $inside = $free || $k eq 'arguments' || $k eq 'properties';
            $out{ $free && !$plain_names ? $k . $mark : $k } = forged($v->{$k}, $mark, $k,
                $inside && $k ne 'type');
        }
        return \%out;
    }
    return $v if ref $v || !defined $v || $ours{$key} || $v =~ /^\d+$/ ||
        ($plain_names && $key eq 'name');
    return $v . $mark;
}

sub render {
    my ($model, $request, @args) = @_;
    open my $out, '>:raw', "$dir/r.json" or die $!;
    print $out $json->encode($request);
    close $out;
    my $text = qx{$build/penstock render -m $model @args --json $dir/r.json 2>$dir/err};
    return $? ? undef : $json->decode($text);
}

sub specials { join ' ', sort { $a <=> $b } grep { $_ >= $base } @{ $_[0]{ids} } }

sub why { open my $in, '<', "$dir/err" or return ''; local $/; my $s = <$in>; $s // '' }

my @think = ('<think>', '</think>');
my @tags  = ('<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>');
my @chatml = ('<|endoftext|>', '<|im_start|>', '<|im_end|>');
my @kimi = map { "<|$_|>" } qw(im_end im_user im_assistant im_system im_middle
    tool_calls_section_begin tool_calls_section_end tool_call_begin
    tool_call_argument_begin tool_call_end);
my @glm = ('[gMASK]', '<sop>', '<|system|>', '<|user|>', '<|assistant|>',
    '<|observation|>', '<|endoftext|>', @think, @tags,
    qw(<arg_key> </arg_key> <arg_value> </arg_value>
    <|begin_of_image|> <|image|> <|end_of_image|>));
my @xtml = map { "<|$_|>" } qw(open close sep end_of_msg media_begin
    media_content media_pad media_end kimi_image_placeholder);
my @dsml = (map({ "<\x{ff5c}$_\x{ff5c}>" } "begin\x{2581}of\x{2581}sentence",
    "end\x{2581}of\x{2581}sentence", qw(User Assistant System latest_reminder
    deepseek_image action query authority domain title read_url)),
    "\x{ff5c}DSML\x{ff5c}", @think);
my @mistral = map { "[$_]" } qw(INST /INST AVAILABLE_TOOLS /AVAILABLE_TOOLS
    TOOL_CALLS TOOL_RESULTS /TOOL_RESULTS SYSTEM_PROMPT /SYSTEM_PROMPT
    TOOL_CONTENT ARGS CALL_ID);
my @deepseek = map { "<\x{ff5c}$_\x{ff5c}>" } map { s/_/\x{2581}/gr }
    qw(begin_of_sentence end_of_sentence User Assistant tool_calls_begin
    tool_calls_end tool_call_begin tool_call_end tool_sep tool_outputs_begin
    tool_outputs_end tool_output_begin tool_output_end);

# What a vocabulary has, and the template that the file carries (or none).
my @models = (
    ['built-in ChatML', [@chatml, @think], undef, no_tools => 1],
    ['XTML', \@xtml, undef],
    ['DSML', \@dsml, undef, refused => qr/deepseek_image/],
    ['Kimi K2', \@kimi, undef],
    ['GLM', \@glm, undef],
    ['the demo template', [@chatml, @think, @tags], 'DEMO'],
);
# published templates whose special tokens are known here
my %tokens = (
    qr/im_start/ => [@chatml, @think, @tags],
    qr/\[INST\]/ => ['<s>', '</s>', @mistral],
    qr/\x{ff5c}User\x{ff5c}/ => [@deepseek, @think],
    qr/<\|observation\|>/ => \@glm,
    qr/<\|im_middle\|>/ => \@kimi,
);
for my $file (sort glob 't/data/chat/templates/*.jinja') {
    open my $in, '<:utf8', $file or die "$file: $!";
    my $text = do { local $/; <$in> };
    my ($known) = grep { $text =~ /$_/ } sort keys %tokens;
    push @models, [$file, $tokens{$known}, $file, template => 1] if $known;
}

sub model_of {
    my ($name, $tokens, $template) = @_;
    my %seen;
    my @args = ('--vocab', "synthetic:$base", qw(--bare --layers 1 --width 64
        --heads 2 --kv-heads 1 --ctx 8192));
    if ($template && $template eq 'DEMO') {
        my $py = do { local (@ARGV, $/) = 'contrib/demo-model/chatml.py'; <> };
        my ($text) = $py =~ /^TEMPLATE = r"""(.*?)"""/ms;
        open my $out, '>', "$dir/demo.jinja" or die $!;
        print $out $text;
        close $out;
        $template = "$dir/demo.jinja";
    }
    my @marks = grep { !$seen{$_}++ } @$tokens;
    push @args, map { ('--control', $_) } @marks;
    push @args, '--eos', $marks[-1], '--bos', $marks[0];
    push @args, '--template', $template if $template;
    utf8::encode($_) for @args;
    system('contrib/mkmodel', @args, '-o', "$dir/m.gguf") == 0 or die $name;
    return ("$dir/m.gguf", @marks);
}

my $checked = 0;
for my $m (@models) {
    my ($name, $tokens, $template, %opt) = @$m;
    my ($model, @marks) = model_of($name, $tokens, $template);
    my %r = %request;
    if ($opt{no_tools}) {
        delete $r{tools};
        $r{messages} = [@{ $request{messages} }[0, 1, 6, 7]];
    }
    my $plain = render($model, \%r);
    if (!$plain && $opt{template}) { # it cannot say all of this
        my $all = why();
        $r{messages} = [@{ $request{messages} }[0, 1, 6, 7]];
        $plain = render($model, \%r);
        delete $r{tools} unless $plain;
        $plain //= render($model, \%r);
        $r{messages} = [@{ $request{messages} }[1, 6, 7]] unless $plain;
        $plain //= render($model, \%r);
        note "$name: rendered without some of it, since $all";
    }
    if (!ok $plain, "$name renders the benign request") {
        diag why();
        next;
    }
    my $want = specials($plain);
    isnt $want, '', "$name: it has special tokens";
    for my $mark (@marks) {
        my $got = render($model, forged(\%r, $mark));
        if (!$got && why() =~ /messages\[2\]\S+: has a name .* cannot write/) {
            local $plain_names = 1;
            $got = render($model, forged(\%r, $mark));
        }
        my $shown = $mark;
        utf8::encode($shown);
        if (!$got && $opt{refused} && $shown =~ $opt{refused}) {
            like why(), qr/messages\[0\]|tools/, "$name: $shown is refused";
            next;
        }
        is $got ? specials($got) : why(), $want, "$name: $shown forges nothing";
        $checked++;
        last unless $got;
        my $longer = @{ $got->{ids} } - @{ $plain->{ids} };
        cmp_ok $longer, '>', 3 * length $mark,
            "$name: $shown is in the prompt as text, many times"
            if $mark eq $marks[0];
    }
}
cmp_ok $checked, '>', 60, "$checked markers in all";
done_testing();
