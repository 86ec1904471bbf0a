# The contract sees a server that is nearly right: nginx changes one detail of
# this server's answers, and the rules about that detail fail.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Pen::Daemon;
use Pen::Js;
use Pen::Nginx;

my ($node) = grep { -x } $Pen::Js::NODE, map { "$_/node" } split /:/, $ENV{PATH};
plan skip_all => 'no node: run t/js/install.sh' unless $node;
plan skip_all => 'no demo model' unless -r $Pen::Daemon::DEMO;
my $nginx = Pen::Nginx::program() // '';
plan skip_all => 'this nginx has no sub_filter'
    unless $nginx && `$nginx -V 2>&1` =~ /http_sub_module/;

# [what is replaced, by what, the rules that must break]
my @faults = (
    ['data: [DONE]', ': gone', 'D04 X43'],
    ['data: {', "event: chunk\ndata: {", 'D02 X43'],
    ['}]}' . "\n\n", "}]}\n", 'D03'],
    ['chat.completion.chunk', 'chat.completion', 'D05'],
    ['"chat.completion"', '"text"', 'C01'],
    ['"delta":{"role":"assistant",', '"delta":{', 'D07'],
    ['"finish_reason":"stop"', '"finish_reason":null', 'C03 D09 E05'],
    ['"finish_reason":"length"', '"finish_reason":"stop"', 'D19 E01 E02 I01'],
    ['"finish_reason":null,', '', 'D08'],
    ['"usage":null', '"usage":{}', 'D15'],
    ['"total_tokens":', '"total_tokens":1', 'C06 I01'],
    ['"completion_tokens":', '"completion_tokens":9', 'C06 E01'],
    ['"index":1', '"index":0', 'E15 I04 I07'],
    ['"content":"', '"content":"\n', 'C08 D10'],
    ['"logprobs":null', '"logprobs":{}', 'C03 D12 G11'],
    ['"logprob":-', '"logprob":', 'G01 G04'],
    ['"bytes":[', '"bytes":[33,', 'G03'],
    ['"text_offset":[0,', '"text_offset":[0,0,', 'G12 G15'],
    ['"param":"', '"param":"body.', 'A05 A11 A36 I19'],
    ['"code":"', '"code":5,"was":"', 'B06 B10 J03'],
    ['"type":"invalid_request_error"', '"type":"error"', 'A01 B01 K01'],
    ['"refusal":null', '"tool_calls":[]', 'C04 C05'],
    ['"reasoning_tokens":', '"thoughts":', 'C07'],
    ['"object":"list"', '"object":"models"', 'J01 L41'],
    ['chatcmpl-', 'chat-', 'C02'],
    ['"object":"response"', '"object":"answer"', 'L01'],
    ['"annotations":[],', '', 'L02'],
    ['"total_tokens":', '"total_tokens":1', 'L04'],
    ['{"reason":"max_output_tokens"}', '{"reason":"length"}', 'L07 L37'],
    ['"param":"', '"param":"body.', 'L09 L10 L11 L38'],
    ['"call_id":"', '"call":"', 'L20 L21'],
    ['"sequence_number":', '"sequence_number":1', 'L31'],
    ['event: response.completed', 'event: response.done', 'L30 L32'],
    ['event: response.in_progress', ': none', 'L32'],
    ['"delta":"', '"delta":"x', 'L33 L36'],
    ['"deleted":true', '"deleted":false', 'L43'],
    ['"previous_response_id":"', '"previous_response_id":"x', 'L42'],
    ['"response.input_tokens"', '"tokens"', 'L45'],
    ['"output_index":0', '"output_index":1', 'L35'],
    ['"stop_reason":"end_turn"', '"stop_reason":"stop"', 'M01'],
    ['"cache_read_input_tokens":', '"cache_read":', 'M03'],
    ['"stop_reason":"max_tokens"', '"stop_reason":"length"', 'M06'],
    ['"stop_sequence":"', '"stop_sequence":"x', 'M07'],
    ['"type":"error",', '', 'M08 M09 M10 M11 M34'],
    ['"stop_reason":"tool_use"', '"stop_reason":"end_turn"', 'M20 M22 M33'],
    ['"signature":', '"seal":', 'M23'],
    ['event: message_stop', 'event: message_end', 'M30 M32 M33'],
    ['"text_delta","text":"', '"text_delta","text":"x', 'M30'],
    ['"content":[],"stop_reason":null', '"content":[],"stop_reason":"x"', 'M31'],
    ['"partial_json":"{', '"partial_json":"{{', 'M33'],
    ['{"input_tokens":', '{"input_tokens":1', 'M40'],
    ['"display_name":', '"name":', 'M42'],
);

my (%port, %taken, $servers);
for my $i (0 .. $#faults) {
    my ($from, $to) = map { s/([\\'])/\\$1/gr } @{ $faults[$i] };
    do { $port{$i} = Pen::Nginx::free_port() } while $taken{ $port{$i} }++;
    $servers .= <<"END";
    server {
        listen 127.0.0.1:$port{$i};
        sub_filter_types *; sub_filter_once off;
        sub_filter '$from' '$to';
        include penstock.conf;
    }
END
}
my $d = Pen::Daemon->start(args => { threads => 1, 'responses-keep' => 1 });
my $key = $d->add_key('alice');
my $site = Pen::Nginx->start(socket => $d->{socket}, http => $servers);
for my $i (0 .. $#faults) {
    my ($from, $to, $rules) = @{ $faults[$i] };
    local $ENV{NO_PROXY} = '*';
    local $ENV{LD_PRELOAD};
    delete $ENV{LD_PRELOAD};
    open my $in, '-|', $node, 't/contract/run', '--only',
        '^(' . $rules =~ tr/ /|/r . ') ', "http://127.0.0.1:$port{$i}/v1", $key
        or die "node: $!";
    my @broken = sort map { /^not ok \d+ - (\S+)/ ? $1 : () } <$in>;
    close $in;
    is "@broken", $rules, ($from =~ s/\n/\\n/gr) . ' as '
        . ($to =~ s/\n/\\n/gr) . " breaks $rules";
}
is $d->stop, 0, 'the daemon ends with 0';
done_testing;
