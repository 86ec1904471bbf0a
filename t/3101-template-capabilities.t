# What published templates can do is read off the template alone: a system
# turn, tools (as the variable `tools`, with calls and results in the history),
# a reasoning channel, images, efforts. The table says what the makers
# document and their templates show; --chat names a file, so no name, no
# vocabulary and no model helps.
use strict;
use warnings;
use Test::More;
use File::Temp 'tempdir';
use JSON::PP;

my $penstock = ($ENV{BUILD} // 'build') . '/penstock';
plan skip_all => "$penstock is missing" unless -x $penstock;

# template                                    can                     calls
my $table = <<'END';
Infinigence-Megrez-3B-Instruct                system                  -
Mistral-Small-3.2-24B-Instruct-2506           system tools images     mistral
Phi-3-mini                                    -                       -
Qwen-QwQ-32B                                  system tools reasoning  qwen
Qwen-Qwen2.5-7B-Instruct                      system tools            qwen
Qwen-Qwen3-0.6B                               system tools reasoning  qwen
Qwen3-Coder                                   system tools            qwen
Qwen3.5-4B                                    system tools reasoning images  qwen
StepFun3.5-Flash                              system tools reasoning images  qwen
GLM-4.6                                       system tools reasoning  glm
GLM-4.7-Flash                                 system tools reasoning  glm
HuggingFaceTB-SmolLM3-3B                      system reasoning        -
MiMo-VL                                       system tools            qwen
deepseek-ai-DeepSeek-R1-Distill-Qwen-32B      system reasoning        -
deepseek-ai-DeepSeek-V3.1                     system reasoning        -
deepseek-ai-DeepSeek-V3.2                     system tools reasoning  dsml
deepseek-ai-DeepSeek-V4                       system tools reasoning low/medium/high/max  dsml
ibm-granite-granite-3.3-2B-Instruct           system tools reasoning  *
ibm-granite-granite-4.0                       system tools            qwen
microsoft-Phi-3.5-mini-instruct               system                  -
mistralai-Ministral-3-14B-Reasoning-2512      system tools reasoning images  mistral
mistralai-Mistral-7B-Instruct-v0.2-NOTE-Old-pre  -                    -
mistralai-Mistral-7B-Instruct-v0.2-mistralai-v1  system               -
mistralai-Mistral-Nemo-Instruct-2407          system tools            mistral
openai-gpt-oss-120b                           system tools reasoning low/medium/high  *
openbmb-MiniCPM5-1B                           system tools reasoning  *
phi-4                                         system                  -
poolside-Laguna-XS.2                          system tools reasoning  glm
teknium-OpenHermes-2.5-Mistral-7B             system                  -
END

my $dir = tempdir(CLEANUP => 1);
open my $out, '>', "$dir/req.json" or die "$!\n";
print $out '{"messages":[{"role":"user","content":"Hello."}]}';
close $out or die "$!\n";

for my $row (split /\n/, $table) {
    my ($name, @can) = split ' ', $row;
    my $calls = pop @can;
    my $text = `'$penstock' render --json --format jinja --chat 't/data/chat/templates/$name.jinja' '$dir/req.json'`;
    is $?, 0, "$name: renders" or next;
    my $caps = decode_json($text)->{capabilities};
    my @got = grep { $caps->{$_} } qw(system tools reasoning images);
    push @got, join '/', @{ $caps->{efforts} } if @{ $caps->{efforts} // [] };
    is "@got", join(' ', grep { $_ ne '-' } @can), "$name: what it can do";
    next if $calls eq '*'; # a form of its own, read as JSON calls
    is $caps->{calls} // '-', $calls, "$name: how it writes calls";
}
done_testing;
