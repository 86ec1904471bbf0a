package Pen::Bad;
# Bodies that must be refused, made from `penstock compat --json`, from the
# paths of messages and tools, and from broken JSON.
#
#   for my $b (Pen::Bad::all()) { $b->{uri} $b->{body} $b->{name} $b->{root} }
#   for my $b (Pen::Bad::newer()) { ... }  # of /v1/responses and /v1/messages
#
# root: the first word that `param` must have; undef: param is null or some
# member of the body. Strings in the bodies hold $MARK, which must come back
# nowhere.
use strict;
use warnings;
use JSON::PP ();

our $MARK = 'quagga7marker';
my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my %hello = (chat => '"messages":[{"role":"user","content":"Hi"}]',
    completions => '"prompt":"Hi"',
    responses => '"input":"Hi","max_output_tokens":1',
    messages => '"messages":[{"role":"user","content":"Hi"}],"max_tokens":1');
my %uri = (chat => '/v1/chat/completions', completions => '/v1/completions',
    responses => '/v1/responses', messages => '/v1/messages');

# Values of every JSON type, as text.
my %value = (
    bool => [qw(true false)],
    number => [qw(0 -1 1.5 1e400 -1e400 99999999999999999999 1e-400)],
    string => [ map { qq("$_") } $MARK, '', "$MARK\\u0000", "\\ud83d\\ude80",
        $MARK x 2000 ],
    list => [ '[]', '[1]', "[\"$MARK\"]", '[null]', '[[[[]]]]' ],
    object => [ '{}', "{\"$MARK\":\"$MARK\"}", '{"":{"":[]}}' ],
);

# Which types does the text of `accepted` allow?
sub types {
    my ($text) = @_;
    my %ok;
    $ok{bool} = 1 if $text =~ /\b(?:true|false)\b/;
    $ok{number} = 1 if $text =~ /\b(?:number|integer|token ids)\b|^1\b/;
    $ok{string} = 1 if $text =~ /\bstring\b|text|none|auto|enabled|empty value/;
    $ok{list} = 1 if $text =~ /\blists?\b|\[|empty value/;
    $ok{object} = 1 if $text =~ /\bobject\b|function|empty value/;
    return \%ok;
}

# Numbers outside the range that the text gives.
sub outside {
    my ($text) = @_;
    my @v;
    push @v, $1 - 1, $2 + 1 if $text =~ /from (-?\d+) to (-?\d+)/;
    push @v, $1 - 1 if $text =~ /at least (\d+)/;
    push @v, 0, -0.5 if $text =~ /above 0/;
    push @v, '1.5', '1e400' if $text =~ /integer/;
    push @v, '1e400', '-1e400' if $text =~ /number/;
    return @v;
}

# {"a":{"b":V}} for the field a.b.
sub nested {
    my ($field, $value) = @_;
    my @path = split /\./, $field;
    my $text = $value;
    $text = qq({"$_":$text}) for reverse @path[ 1 .. $#path ];
    return qq("$path[0]":$text);
}

sub fields {
    my @routes = @_;
    my @all;
    my $bin = ($ENV{BUILD} // 'build') . '/penstock';
    my $compat = $json->decode(scalar qx($bin compat --json));
    for my $row (@{ $compat->{fields} }) {
        my ($field, $text) = @$row{qw(field accepted)};
        next if $field =~ /^(?:messages|prompt|tools|input)$/
            || $text eq 'anything';
        my ($root) = $field =~ /^(\w+)/;
        my $ok = types($text);
        my @bad = ((map { $ok->{$_} ? () : @{ $value{$_} } } sort keys %value),
            outside($text));
        push @bad, map { qq("$_") } "x$MARK"
            if $ok->{string} && $text =~ /\bnone\b|enabled|^text\b|json_object/;
        for my $route (@routes) {
            next unless ($row->{$route} // 'neutral') ne 'neutral';
            push @all, map { { name => "$field $_", root => $root,
                uri => $uri{$route}, body => "{$hello{$route},"
                    . nested($field, $_) . '}' } } @bad;
        }
    }
    return @all;
}

my $call = '"id":"c1","type":"function","function":{"name":"f",'
    . '"arguments":"{}"}';
my $user = '{"role":"user","content":"Hi"}';
# %s is the place; then which values are fine there.
my @places = (
    [ '{"messages":%s}', 'none' ],
    [ '{"messages":[%s]}', 'none' ],
    [ "{\"messages\":[$user,%s,$user]}", 'none' ],
    [ '{"messages":[{"role":%s,"content":"Hi"}]}', 'none' ],
    [ '{"messages":[{"content":"Hi","name":%s}]}', 'none' ],
    [ '{"messages":[{"role":"user","content":%s}]}', 'string' ],
    [ '{"messages":[{"role":"user","content":[%s]}]}', 'none' ],
    [ '{"messages":[{"role":"user","content":[{"type":%s,"text":"a"}]}]}',
        'none' ],
    [ '{"messages":[{"role":"user","content":[{"type":"text","text":%s}]}]}',
        'string' ],
    [ '{"messages":[{"role":"user","content":[{"type":"image_url",'
        . '"image_url":%s}]}]}', 'none' ],
    [ '{"messages":[{"role":"user","content":[{"type":"input_audio",'
        . '"input_audio":%s}]}]}', 'none' ],
    [ "{\"messages\":[$user,{\"role\":\"assistant\",\"content\":%s}]}",
        'string' ],
    [ "{\"messages\":[$user,{\"role\":\"assistant\",\"tool_calls\":%s}]}",
        'none' ],
    [ "{\"messages\":[$user,{\"role\":\"assistant\",\"tool_calls\":[%s]}]}",
        'none' ],
    (map { [ "{\"messages\":[$user,{\"role\":\"assistant\",\"tool_calls\":[{$_}"
            . "]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"1\"}"
            . "]}", 'string' ] }
        $call =~ s/"c1"/%s/r, $call =~ s/"f"/%s/r),
    (map { [ "{\"messages\":[$user,{\"role\":\"assistant\",\"tool_calls\":[{$_}"
            . "]},{\"role\":\"tool\",\"tool_call_id\":\"c1\",\"content\":\"1\"}"
            . "]}", 'none' ] }
        $call =~ s/"function",/%s,/r, $call =~ s/\{.*\}(?=$)/%s/r),
    [ "{\"messages\":[$user,{\"role\":\"assistant\",\"tool_calls\":[{$call}]},"
        . '{"role":"tool","tool_call_id":%s,"content":"1"}]}', 'string' ],
    [ "{\"messages\":[$user,{\"role\":\"assistant\",\"tool_calls\":[{$call}]},"
        . '{"role":"tool","tool_call_id":"c1","content":%s}]}', 'string' ],
    [ "{\"messages\":[$user],\"tools\":%s}", 'none' ],
    [ "{\"messages\":[$user],\"tools\":[%s]}", 'none' ],
    [ "{\"messages\":[$user],\"tools\":[{\"type\":%s,\"function\":"
        . '{"name":"f"}}]}', 'none' ],
    [ "{\"messages\":[$user],\"tools\":[{\"type\":\"function\","
        . '"function":%s}]}', 'none' ],
    [ "{\"messages\":[$user],\"tools\":[{\"type\":\"function\","
        . '"function":{"name":%s}}]}', 'string' ],
    [ "{\"messages\":[$user],\"tools\":[{\"type\":\"function\","
        . '"function":{"name":"f","description":%s}}]}', 'string' ],
    [ "{\"messages\":[$user],\"tools\":[{\"type\":\"function\","
        . '"function":{"name":"f","parameters":%s}}]}', 'object' ],
    [ "{\"messages\":[$user],\"tools\":[{\"type\":\"function\",\"function\":"
        . '{"name":"f"}}],"tool_choice":{"type":"function","function":%s}}',
        'none' ],
    [ '{"prompt":%s}', 'string' ],
    [ '{"prompt":[%s]}', 'string' ],
    [ '{"prompt":["a",%s]}', 'string' ],
    [ '{"prompt":[97,%s]}', 'none' ],
    [ '{"prompt":[[%s]]}', 'none' ],
);

# Values that are fine in places where others of their type are not.
my %fine = map { $_ => 1 } '{"prompt":[1]}', '{"prompt":[0]}',
    "{\"prompt\":[\"$MARK\"]}", '{"prompt":[97,0]}', '{"prompt":[[0]]}', '{"prompt":[[1]]}',
    "{\"messages\":[$user],\"tools\":[]}",
    "{\"messages\":[$user,{\"role\":\"assistant\",\"tool_calls\":[{$call}]},"
        . '{"role":"tool","tool_call_id":"c1","content":[]}]}',
    "{\"messages\":[$user,{\"role\":\"assistant\",\"content\":[]}]}",
    "{\"messages\":[$user,{\"role\":\"assistant\",\"tool_calls\":[]}]}";

sub places {
    my @all;
    for my $place (@places) {
        my ($form, $fine) = @$place;
        my $route = $form =~ /"prompt"/ ? 'completions' : 'chat';
        for my $type (sort keys %value) {
            next if $type eq $fine;
            for my $body (map { sprintf $form, $_ } @{ $value{$type} }) {
                push @all, { name => $body, root => undef, body => $body,
                    uri => $uri{$route} } unless $fine{$body};
            }
        }
    }
    return @all;
}

sub broken {
    my @all;
    for my $route (@_) {
        my $whole = "{$hello{$route},\"stop\":[\"$MARK\",\"\\u00e9\"],"
            . "\"seed\":-12,\"x\":{\"y\":null}}";
        my $in = sub { $whole =~ s/\Q$MARK\E/$MARK$_[0]/r };
        my $with = sub { $whole =~ s/-12/$_[0]/r };
        my @text = ((map { substr $whole, 0, 2 * $_ } 0 .. length($whole) / 2 - 1),
            # bytes that are no UTF-8: cut, overlong, surrogate, too large
            (map { $in->($_) } "\xe6", "\xe6\xbc", "\xf0\x9f\x9a", "\x80",
                "\xff", "\xfe\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80",
                "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80"),
            # escapes that are none, lone surrogates
            (map { $in->($_) } '\\ud83d', '\\ude80', '\\ud83d\\ud83d', '\\u12',
                '\\x41', '\\', "\n", "\t", "\0", '\\ud83dx', '\\u{41}'),
            # numbers that are none
            (map { $with->($_) } qw(01 +1 .5 1. 1e 1e+ -  0x10 NaN Infinity
                1_000 nul True -- 1e999999999999), '9' x 500, '1e' . '9' x 500,
                '-' x 5000),
            # structure
            "$whole}", "$whole$whole", "$whole,", "[$whole]", "\xef\xbb\xbf$whole",
            "\"$MARK\"", $MARK, 'null', 'true', '0', '[]', '{}', '""', "\0",
            "'$MARK'", "/*$MARK*/$whole", "{$MARK:1}", "{\"a\" 1}", '{"a":1,}',
            '[' x 5000, '{"a":' x 5000, $with->('[' x 200 . ']' x 200),
            $with->('{"a":' x 200 . '1' . '}' x 200), ' ' x 100_000,
            '{"' . $MARK x 50_000 . '":1}', '{"' . $MARK x 50_000,
            "grant_type=$MARK&a=b", "<html>$MARK</html>");
        push @all, map { { name => 'broken: ' . substr($_, 0, 60), root => undef,
            uri => $uri{$route}, body => $_ } } @text;
    }
    return @all;
}

# What is missing, or does not go together.
sub joint {
    my $two = '{"type":"function","function":{"name":"f"}}';
    my @chat = ('{}', '{"messages":[]}', '{"messages":[{}]}',
        '{"messages":[{"content":"Hi"}]}', '{"messages":[{"role":"user"}]}',
        '{"messages":[{"role":"system","content":"Hi"}]}',
        '{"messages":[{"role":"tool","tool_call_id":"a","content":"1"}]}',
        (map { "{$hello{chat},$_}" } '"n":2,"stream":true', '"top_logprobs":3',
            '"max_tokens":1,"max_completion_tokens":2',
            '"tools":[{}]', '"tools":[{"type":"function"}]',
            '"tools":[{"type":"function","function":{}}]',
            '"tools":[{"type":"function","function":{"name":""}}]',
            "\"tools\":[$two,$two]", "\"tools\":[$two],\"tool_choice\":\"x\"",
            "\"tools\":[" . join(',', ($two) x 200) . ']',
            '"tool_choice":"required"', '"stop":[' . join(',', ('"a"') x 17) . ']',
            '"structured_outputs":{"choice":["a"],"regex":"b"}',
            '"structured_outputs":{"choice":[]}',
            '"structured_outputs":{"choice":[""]}',
            '"structured_outputs":{"choice":[1]}',
            '"response_format":{"type":"json_schema","json_schema":'
                . '{"schema":{"uniqueItems":true}}}',
            '"structured_outputs":{"regex":"(["}',
            '"structured_outputs":{"json":{"type":"x"}}',
            '"logit_bias":{"a":1}', '"logit_bias":{"1":"2"}',
            '"logit_bias":{"-1":1}', '"logit_bias":{"1":101}',
            '"logit_bias":{"1.5":1}', '"logit_bias":{"":1}',
            '"thinking":{"type":"x"}', '"reasoning":{"effort":"x"}'));
    my @text = ('{}', '{"prompt":""}', '{"prompt":[]}', '{"prompt":[[]]}',
        '{"prompt":[""]}', '{"prompt":["a",""]}', '{"prompt":[3072]}',
        '{"prompt":[[1],["a"]]}', '{"prompt":[1,"a"]}',
        (map { "{$hello{completions},$_}" } '"best_of":2', '"n":2,"best_of":3',
            '"echo":true', '"suffix":"a"', '"logprobs":6', '"logprobs":true',
            '"n":2,"stream":true'));
    return ((map { { name => $_, uri => $uri{chat}, body => $_ } } @chat),
        (map { { name => $_, uri => $uri{completions}, body => $_ } } @text));
}

sub all {
    my @old = qw(chat completions);
    return (fields(@old), places(), broken(@old), joint());
}

# --- responses and messages ---------------------------------------------------
my $said = '{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}';
my $use = '{"type":"tool_use","id":"t","name":"f","input":{}}';
my $after = "$user,{\"role\":\"assistant\",\"content\":[$use]}";
my $type = '"type":"function","name":"f"';
# %s is the place; then which types are fine there.
my %newer = (
    responses => [ [ '%s', 'string' ], [ '[%s]', '' ], [ "[$user,%s]", '' ],
        [ '[{"role":%s,"content":"Hi"}]', '' ],
        [ '[{"role":"user","content":%s}]', 'string' ],
        [ '[{"role":"user","content":[%s]}]', '' ],
        [ '[{"role":"user","content":[{"type":%s,"text":"a"}]}]', '' ],
        [ '[{"role":"user","content":[{"type":"input_text","text":%s}]}]',
            'string' ],
        [ "[$user,{\"type\":%s}]", '' ],
        [ "[$user,{\"type\":\"item_reference\",\"id\":%s}]", '' ],
        [ "[$user,{\"type\":\"reasoning\",\"content\":%s}]", 'list' ],
        (map { [ "[$user,$_]", /arguments":%/ ? 'string object' : 'string' ] }
            $said =~ s/"c"/%s/r, $said =~ s/"f"/%s/r, $said =~ s/"\{\}"/%s/r),
        [ "[$user,$said,{\"type\":\"function_call_output\",\"call_id\":%s,"
            . '"output":"1"}]', 'string' ],
        [ "[$user,$said,{\"type\":\"function_call_output\",\"call_id\":\"c\","
            . '"output":%s}]', 'string list' ] ],
    messages => [ [ '%s', '' ], [ '[%s]', '' ], [ "[$user,%s]", '' ],
        [ '[{"role":%s,"content":"Hi"}]', '' ],
        [ '[{"role":"user","content":%s}]', 'string' ],
        [ '[{"role":"user","content":[%s]}]', '' ],
        [ '[{"role":"user","content":[{"type":%s,"text":"a"}]}]', '' ],
        [ '[{"role":"user","content":[{"type":"text","text":%s}]}]', 'string' ],
        (map { [ "[$user,{\"role\":\"assistant\",\"content\":[$_]},$user]",
            /input":%/ ? 'object' : 'string' ] } $use =~ s/"t"/%s/r,
            $use =~ s/"f"/%s/r, $use =~ s/\{\}/%s/r),
        [ "[$after,{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
            . '"tool_use_id":%s}]}]', 'string' ],
        [ "[$after,{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
            . '"tool_use_id":"t","content":%s}]}]', 'string list' ] ],
    tools => [ [ '%s', 'list' ], [ '[%s]', '' ],
        [ '[{"type":"function","name":%s,"input_schema":{"type":"object"}}]',
            'string' ],
        [ "[{$type,\"description\":%s,\"input_schema\":{\"type\":\"object\"}}]",
            'string' ],
        [ "[{$type,\"parameters\":%s,\"input_schema\":%s}]", 'object' ] ],
);

sub newer_places {
    my ($route) = @_;
    my ($head, $list) = $route eq 'messages' ? ('"max_tokens":1', 'messages')
        : ('"max_output_tokens":1', 'input');
    my @all;
    for my $group ($route, 'tools') {
        for my $place (@{ $newer{$group} }) {
            my ($form, $fine) = @$place;
            $form =~ s/"type":"function",// if $route eq 'messages';
            for my $t (grep { $fine !~ /$_/ } sort keys %value) {
                push @all, map { my $v = $_; my $text = $form =~ s/%s/$v/gr;
                    { name => $text, root => undef, uri => $uri{$route},
                        body => $group eq 'tools'
                        ? "{$hello{$route},\"tools\":$text}"
                        : "{$head,\"$list\":$text}" } } @{ $value{$t} };
            }
        }
    }
    return @all;
}

sub newer {
    my @new = qw(responses messages);
    return (fields(@new), broken(@new), map { newer_places($_) } @new);
}

1;
