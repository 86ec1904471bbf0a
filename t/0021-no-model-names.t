# Nothing outside src/engine/arch_* may branch on a model's name: string
# literals that name a family are an error unless the list below says why.
use strict;
use warnings;
use Test::More;

my $family = qr/qwen|llama|kimi|moonshot|gemma|deepseek|mistral|mixtral|phi-?\d|
    falcon|chatglm|\bglm|gpt-?oss|olmo|granite|command-?r|starcoder|baichuan|
    internlm|minicpm|smollm|nemotron|hunyuan/xi;

# file => [pattern of the whole literal, why it may stand there]
my $pre = qr/llama-bpe|qwen2|llama3|llama-v3|deepseek-r1-qwen/;
my %allowed = (
    'src/text/pretok.c' => [qr/^(?:$pre|llama-bpe, qwen2 and default)$/,
        'names of pre-tokenizers in tokenizer.ggml.pre, and a message'],
    'src/text/tok.c' => [qr/^$pre$/,
        'names of pre-tokenizers in tokenizer.ggml.pre'],
    'src/text/spm.c' => [qr/^missing; the llama tokenizer needs them$/,
        'a message; llama is a value of tokenizer.ggml.model'],
    'src/chat/vocab.c' => [qr/^(?:llama|$pre)$|accepted| are$/,
        'values of tokenizer.ggml.model and .pre, and messages with them'],
    'src/chat/xtml_msgs.c' => [qr/^<\|\w+_image_placeholder\|>$/,
        'a token of XTML vocabularies, spelled as they spell it'],
    'src/chat/dsml.c' => [qr/^deepseek_image$/,
        'a token of DSML vocabularies, spelled as they spell it'],
    # names of wire forms, as the command line takes them; a format says by
    # its tokens or its template which one it uses, never by a model's name
    (map { $_ => [qr/^(?:kimi|glm)$/, 'names of chat formats'] }
        qw(src/chat/find.c src/chat/chatjson.c)),
    (map { $_ => [qr/^(?:kimi|glm|qwen|llama3|mistral|deepseek)$/,
        'names of reply dialects'] }
        qw(src/chat/dialect.c src/chat/kimi_reply.c src/chat/glm_reply.c
           src/chat/tagcall.c src/chat/jsoncall.c src/chat/bracketcall.c
           src/chat/sectioncall.c src/cli/cmd_parse.c)),
    (map { $_ => [qr/^deepseek(?:-legacy)?$/,
        'words of reasoning_format, as other servers take them'] }
        qw(src/api/body_think.c src/api/compat_fields.c)),
);

sub literals {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!";
    local $/;
    my $c = <$in>;
    my @found;
    # comments go, strings and characters stay, so that quotes pair up
    while ($c =~ m{(/\*.*?\*/|//[^\n]*)|"((?:[^"\\]|\\.)*)"|'(?:[^'\\]|\\.)*'}gs) {
        push @found, $2 if defined $2;
    }
    return @found;
}

sub breaches {
    my ($file) = @_;
    my $ok = $allowed{$file};
    return grep { /$family/ && !($ok && /$ok->[0]/) } literals($file);
}

my @files = sort split /\n/,
    qx{find src fcgi kernels -name '*.[ch]' -o -name '*.cu' -o -name '*.json'};
cmp_ok(scalar @files, '>', 20, 'sources are found');
for my $file (@files) {
    next if $file =~ m{^src/engine/arch_[^/]*$};
    my @bad = breaches($file);
    is("@bad", '', "$file names no model family");
}

# The scan itself sees what it must.
my $probe = 't/data/chat/names-a-model.txt';
is_deeply([breaches($probe)], ['qwen3', 'Llama-3'], 'the scan works');
done_testing();
