/*
 * Bodies of /v1/responses, and the field that the answer names. Expectations:
 * the types that the npm package openai 7.59.0 declares
 * (ResponseCreateParamsBase, ResponseInputItem, Tool, ToolChoice*), OpenAI's
 * reference, and our written decisions for what is not served.
 */
#include "api/body.h"
#include "base/buf.h"
#include "t/lib/tap.h"

#define NS(more) "{\"input\":\"hi\",\"tools\":[{\"type\":\"namespace\"," \
                 "\"name\":\"a\"" more "}]}"
#define FN(name) "{\"type\":\"function\",\"name\":\"" name "\"}"
#define CU(more) "{\"input\":\"hi\",\"tools\":[{\"type\":\"custom\"," \
                 "\"name\":\"f\"" more "}]}"
#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define X200 X50 X50 X50 X50
#define OKAY NULL

static const struct row {
    const char *json;
    const char *where; /* NULL: accepted */
} rows[] = {
    {"{}", "input"},
    {"{\"input\":null}", "input"},
    {"{\"input\":5}", "input"},
    {"{\"input\":{}}", "input"},
    {"{\"input\":[]}", "input"},
    {"{\"input\":\"hi\"}", OKAY},
    {"{\"input\":\"\"}", OKAY},
    {"{\"instructions\":\"x\"}", "input"},
    {"{\"instructions\":5,\"input\":\"hi\"}", "instructions"},
    {"{\"instructions\":\"x\",\"input\":\"hi\"}", OKAY},
    {"{\"instructions\":\"\",\"input\":\"hi\"}", OKAY},
    {"{\"input\":[7]}", "input[0]"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},null]}",
     "input[1]"},
    {"{\"input\":[[]]}", "input[0]"},
    {"{\"input\":[{}]}", "input[0].role"},
    {"{\"input\":[{\"role\":\"tool\",\"content\":\"x\"}]}", "input[0].role"},
    {"{\"input\":[{\"type\":\"message\",\"role\":\"robot\",\"content\""
     ":\"x\"}]}",
     "input[0].role"},
    {"{\"input\":[{\"role\":\"user\"}]}", "input[0].content"},
    {"{\"input\":[{\"role\":\"user\",\"content\":null}]}",
     "input[0].content"},
    {"{\"input\":[{\"role\":\"user\",\"content\":5}]}", "input[0].content"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[]}]}", "input[0].content"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"a"
     "ssistant\",\"content\":[]}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"system\",\"content\":[]},{\"role\":\"use"
     "r\",\"content\":\"hi\"}]}",
     "input[0].content"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[5]}]}",
     "input[0].content[0]"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":5}]}]}",
     "input[0].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"text\":\"x\"}]}]}",
     "input[0].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
     "\"text\":\"x\"}]}]}",
     "input[0].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"output_t"
     "ext\",\"text\":\"x\"}]}]}",
     "input[0].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_te"
     "xt\",\"text\":\"x\"},{\"type\":\"input_text\",\"text\":5}]}]}",
     "input[0].content[1].text"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_te"
     "xt\"}]}]}",
     "input[0].content[0].text"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_fi"
     "le\",\"file_id\":\"x\"}]}]}",
     "input[0].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_au"
     "dio\"}]}]}",
     "input[0].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_im"
     "age\",\"image_url\":\"x\"}]}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_im"
     "age\",\"file_id\":\"x\"}]}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_im"
     "age\"}]}]}",
     "input[0].content[0].image_url"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_im"
     "age\",\"image_url\":{}}]}]}",
     "input[0].content[0].image_url"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"input_im"
     "age\",\"image_url\":\"x\",\"file_id\":5}]}]}",
     "input[0].content[0].file_id"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"d"
     "eveloper\",\"content\":[{\"type\":\"input_image\",\"image_url\":"
     "\"x\"}]}]}",
     "input[1].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"a"
     "ssistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"x\""
     ",\"annotations\":[]},{\"type\":\"refusal\",\"refusal\":\"no\"},{"
     "\"type\":\"input_text\",\"text\":\"y\"}]}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"a"
     "ssistant\",\"content\":[{\"type\":\"refusal\"}]}]}",
     "input[1].content[0].refusal"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"role\":\"a"
     "ssistant\",\"content\":[{\"type\":\"input_image\",\"image_url\":"
     "\"x\"}]}]}",
     "input[1].content[0].type"},
    {"{\"input\":[{\"role\":\"assistant\",\"content\":\"x\"}]}", "input"},
    {"{\"input\":[{\"role\":\"system\",\"content\":\"x\"}]}", "input"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"r"
     "easoning\",\"summary\":[]}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"r"
     "easoning\",\"content\":\"x\"}]}",
     "input[1].content"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"r"
     "easoning\",\"content\":[5]}]}",
     "input[1].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"r"
     "easoning\",\"content\":[{\"type\":\"summary_text\",\"text\":\"x"
     "\"}]}]}",
     "input[1].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"r"
     "easoning\",\"content\":[{\"type\":\"reasoning_text\"}]}]}",
     "input[1].content[0].text"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"r"
     "easoning\",\"encrypted_content\":5}]}",
     "input[1].encrypted_content"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"r"
     "easoning\",\"encrypted_content\":null,\"content\":null}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"name\":\"f\",\"arguments\":\"{}\"}]}",
     "input[1].call_id"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"call_id\":\"\",\"name\":\"f\",\"arguments\":\"{"
     "}\"}]}",
     "input[1].call_id"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"call_id\":5,\"name\":\"f\",\"arguments\":\"{}\""
     "}]}",
     "input[1].call_id"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"call_id\":\"c\",\"arguments\":\"{}\"}]}",
     "input[1].name"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"call_id\":\"c\",\"name\":\"\",\"arguments\":\"{"
     "}\"}]}",
     "input[1].name"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"call_id\":\"c\",\"name\":\"f\"}]}",
     "input[1].arguments"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":[]"
     "}]}",
     "input[1].arguments"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\""
     "{}\"}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\""
     "no json\"}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"c"
     "ustom_tool_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\""
     ":\"{}\"}]}",
     "input[1].input"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"c"
     "ustom_tool_call\",\"call_id\":\"c\",\"name\":\"f\",\"input\":\"x"
     "\"}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"output\":\"x\"}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"call_id\":\"\",\"output\":\"x\"}]}",
     "input[1].call_id"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"call_id\":null,\"name\":\"f\""
     ",\"output\":\"x\"}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"name\":5,\"output\":\"x\"}]}",
     "input[1].name"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"call_id\":\"c\"}]}",
     "input[1].output"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"call_id\":\"c\",\"output\":5}]}",
     "input[1].output"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"call_id\":\"c\",\"output\":[]}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"call_id\":\"c\",\"output\":[{\"type\":\""
     "input_file\"}]}]}",
     "input[1].output[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"f"
     "unction_call_output\",\"call_id\":\"c\",\"output\":[{\"type\":\""
     "input_text\",\"text\":\"x\"},{\"type\":\"input_image\",\"image_u"
     "rl\":\"x\"}]}]}",
     OKAY},
    {"{\"input\":[{\"type\":\"function_call_output\",\"call_id\":\"c\""
     ",\"output\":\"x\"}]}",
     "input"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"c"
     "ustom_tool_call_output\",\"call_id\":\"c\",\"output\":\"x\"}]}",
     OKAY},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"w"
     "eb_search_call\",\"id\":\"ws\"}]}",
     OKAY},
    {"{\"input\":[{\"type\":\"web_search_call\",\"id\":\"ws\"}]}", "input"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"c"
     "ompaction_trigger\"}]}",
     "input[1].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"w"
     "eb_search\"}]}",
     "input[1].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":5}]"
     "}",
     "input[1].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"M"
     "essage\",\"role\":\"user\",\"content\":\"x\"}]}",
     "input[1].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"m"
     "essage\\u0000\",\"role\":\"user\",\"content\":\"x\"}]}",
     "input[1].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"i"
     "tem_reference\",\"id\":\"msg_1\"}]}",
     "input[1].id"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"i"
     "tem_reference\"}]}",
     "input[1].id"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"id\":\"msg"
     "_1\"}]}",
     "input[1].id"},
    {"{\"input\":\"hi\",\"previous_response_id\":\"resp_1\"}",
     "previous_response_id"},
    {"{\"input\":\"hi\",\"previous_response_id\":\"\"}",
     "previous_response_id"},
    {"{\"input\":\"hi\",\"previous_response_id\":5}",
     "previous_response_id"},
    {"{\"input\":\"hi\",\"previous_response_id\":null}", OKAY},
    {"{\"input\":\"hi\",\"model\":5}", "model"},
    {"{\"input\":\"hi\",\"model\":\"m\"}", OKAY},
    {"{\"input\":\"hi\",\"stream\":1}", "stream"},
    {"{\"input\":\"hi\",\"stream\":true}", OKAY},
    {"{\"input\":\"hi\",\"store\":\"yes\"}", "store"},
    {"{\"input\":\"hi\",\"store\":true}", OKAY},
    {"{\"input\":\"hi\",\"store\":false}", OKAY},
    {"{\"input\":\"hi\",\"max_output_tokens\":0}", "max_output_tokens"},
    {"{\"input\":\"hi\",\"max_output_tokens\":1e9}", OKAY},
    {"{\"input\":\"hi\",\"max_output_tokens\":null}", OKAY},
    {"{\"input\":\"hi\",\"temperature\":2.1}", "temperature"},
    {"{\"input\":\"hi\",\"top_p\":0}", "top_p"},
    {"{\"input\":\"hi\",\"top_k\":-1}", "top_k"},
    {"{\"input\":\"hi\",\"seed\":1.5}", "seed"},
    {"{\"input\":\"hi\",\"stop\":5}", "stop"},
    {"{\"input\":\"hi\",\"stop\":[\"a\",5]}", "stop[1]"},
    {"{\"input\":\"hi\",\"stop\":[\"a\"]}", OKAY},
    {"{\"input\":\"hi\",\"repetition_penalty\":0}", "repetition_penalty"},
    {"{\"input\":\"hi\",\"min_p\":2}", "min_p"},
    {"{\"input\":\"hi\",\"text\":\"x\"}", "text"},
    {"{\"input\":\"hi\",\"text\":{}}", OKAY},
    {"{\"input\":\"hi\",\"text\":{\"format\":{}}}", "text.format.type"},
    {"{\"input\":\"hi\",\"text\":{\"format\":5}}", "text.format"},
    {"{\"input\":\"hi\",\"text\":{\"format\":{\"type\":\"text\"},\"ver"
     "bosity\":\"low\"}}",
     OKAY},
    {"{\"input\":\"hi\",\"text\":{\"format\":{\"type\":\"json_object\""
     "}}}",
     OKAY},
    {"{\"input\":\"hi\",\"text\":{\"format\":{\"type\":\"grammar\"}}}",
     "text.format.type"},
    {"{\"input\":\"hi\",\"text\":{\"format\":{\"type\":\"json_schema\""
     ",\"name\":\"n\"}}}",
     "text.format.schema"},
    {"{\"input\":\"hi\",\"text\":{\"format\":{\"type\":\"json_schema\""
     ",\"name\":\"n\",\"schema\":[]}}}",
     "text.format.schema"},
    {"{\"input\":\"hi\",\"text\":{\"format\":{\"type\":\"json_schema\""
     ",\"name\":5,\"schema\":{}}}}",
     "text.format.name"},
    {"{\"input\":\"hi\",\"text\":{\"format\":{\"type\":\"json_schema\""
     ",\"name\":\"n\",\"schema\":{},\"strict\":1}}}",
     "text.format.strict"},
    {"{\"input\":\"hi\",\"text\":{\"format\":{\"type\":\"json_schema\""
     ",\"name\":\"n\",\"schema\":{},\"strict\":null}}}",
     OKAY},
    {"{\"input\":\"hi\",\"reasoning\":5}", "reasoning"},
    {"{\"input\":\"hi\",\"reasoning\":{\"effort\":\"low\",\"summary\":"
     "\"auto\"}}",
     OKAY},
    {"{\"input\":\"hi\",\"reasoning\":{\"effort\":\"huge\"}}",
     "reasoning.effort"},
    {"{\"input\":\"hi\",\"reasoning\":{\"mode\":\"pro\"}}",
     "reasoning.mode"},
    {"{\"input\":\"hi\",\"reasoning\":{\"mode\":\"standard\",\"context"
     "\":\"auto\"}}",
     OKAY},
    {"{\"input\":\"hi\",\"reasoning\":{\"context\":\"all_turns\"}}", OKAY},
    {"{\"input\":\"hi\",\"reasoning\":{\"max_tokens\":-1}}",
     "reasoning.max_tokens"},
    {"{\"input\":\"hi\",\"include\":5}", "include"},
    {"{\"input\":\"hi\",\"include\":[]}", OKAY},
    {"{\"input\":\"hi\",\"include\":[\"x\"]}", "include[0]"},
    {"{\"input\":\"hi\",\"include\":[5]}", "include[0]"},
    {"{\"input\":\"hi\",\"include\":[\"reasoning.encrypted_content\","
     "\"web_search_call.action.sources\"]}",
     OKAY},
    {"{\"input\":\"hi\",\"include\":[\"message.output_text.logprobs\"]"
     ",\"top_logprobs\":20}",
     OKAY},
    {"{\"input\":\"hi\",\"top_logprobs\":21}", "top_logprobs"},
    {"{\"input\":\"hi\",\"top_logprobs\":5}", OKAY},
    {"{\"input\":\"hi\",\"metadata\":5}", "metadata"},
    {"{\"input\":\"hi\",\"metadata\":{}}", OKAY},
    {"{\"input\":\"hi\",\"metadata\":{\"a\":\"b\"}}", OKAY},
    {"{\"input\":\"hi\",\"metadata\":{\"a\":5}}", "metadata"},
    {"{\"input\":\"hi\",\"metadata\":{\"a\":null}}", "metadata"},
    {"{\"input\":\"hi\",\"truncation\":\"auto\"}", OKAY},
    {"{\"input\":\"hi\",\"truncation\":\"middle\"}", "truncation"},
    {"{\"input\":\"hi\",\"background\":true}", "background"},
    {"{\"input\":\"hi\",\"background\":false}", OKAY},
    {"{\"input\":\"hi\",\"conversation\":\"c\"}", "conversation"},
    {"{\"input\":\"hi\",\"conversation\":{}}", "conversation"},
    {"{\"input\":\"hi\",\"conversation\":\"\"}", "conversation"},
    {"{\"input\":\"hi\",\"moderation\":{}}", "moderation"},
    {"{\"input\":\"hi\",\"personality\":\"\"}", OKAY},
    {"{\"input\":\"hi\",\"prompt_cache_options\":{\"prewarm\":true}}",
     "prompt_cache_options.prewarm"},
    {"{\"input\":\"hi\",\"prompt_cache_options\":{\"prewarm\":false}}",
     OKAY},
    {"{\"input\":\"hi\",\"prompt\":{\"id\":\"p\"}}", "prompt"},
    {"{\"input\":\"hi\",\"moderation\":{\"model\":\"m\"}}", "moderation"},
    {"{\"input\":\"hi\",\"personality\":\"friendly\"}", "personality"},
    {"{\"input\":\"hi\",\"service_tier\":\"flex\",\"user\":\"u\",\"saf"
     "ety_identifier\":\"s\",\"prompt_cache_key\":\"k\",\"stream_optio"
     "ns\":{\"include_obfuscation\":false},\"max_tool_calls\":3,\"clie"
     "nt_metadata\":{\"a\":\"b\"},\"context_management\":[{\"type\":\""
     "compaction\"}]}",
     OKAY},
    {"{\"input\":\"hi\",\"messages\":[]}", OKAY},
    {"{\"input\":\"hi\",\"n\":5}", OKAY},
    {"{\"input\":\"hi\",\"response_format\":{\"type\":\"json_object\"}"
     "}",
     OKAY},
    {"{\"input\":\"hi\",\"tools\":5}", "tools"},
    {"{\"input\":\"hi\",\"tools\":[]}", OKAY},
    {"{\"input\":\"hi\",\"tools\":[5]}", "tools[0]"},
    {"{\"input\":\"hi\",\"tools\":[{}]}", "tools[0].type"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":5}]}", "tools[0].type"},
    {"{\"input\":\"hi\",\"tools\":[{\"name\":\"f\"}]}", "tools[0].type"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\"}]}",
     "tools[0].name"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"function\""
     ":{\"name\":\"f\"}}]}",
     "tools[0].name"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\""
     "\"}]}",
     "tools[0].name"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"a"
     "\\u0000\"}]}",
     "tools[0].name"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\",\"description\":5}]}",
     "tools[0].description"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\",\"parameters\":[]}]}",
     "tools[0].parameters"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\",\"strict\":\"yes\"}]}",
     "tools[0].strict"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\",\"description\":null,\"parameters\":null,\"strict\":null}]}",
     OKAY},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"web_search\"},{\"type\":\"function\",\"name\":\""
     "f\"}]}",
     "tools[2].name"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\",\"strict\":true,\"parameters\":{\"type\":\"object\",\"propert"
     "ies\":{\"a\":{\"type\":\"string\"}}}}]}",
     "tools[0].parameters"},
    {NS(""), "tools[0].tools"},
    {NS(",\"tools\":{}"), "tools[0].tools"},
    {NS(",\"tools\":[]"), OKAY},
    {NS(",\"tools\":[5]"), "tools[0].tools[0]"},
    {NS(",\"tools\":[{}]"), "tools[0].tools[0].type"},
    {NS(",\"tools\":[{\"type\":\"namespace\",\"name\":\"b\",\"tools\":["
        "{}]}]"), OKAY},
    {NS(",\"tools\":[{\"type\":\"function\"}]"), "tools[0].tools[0].name"},
    {NS(",\"tools\":[" FN("f") "," FN("g") "," FN("f") "]"),
     "tools[0].tools[2].name"},
    {NS(",\"tools\":[" FN("f") "]},{\"type\":\"function\",\"name\":\"a__f\""),
     "tools[1].name"},
    {NS(",\"tools\":[{\"type\":\"function\",\"name\":\"f\",\"strict\":true,"
        "\"parameters\":{\"type\":\"object\"}}]"),
     "tools[0].tools[0].parameters"},
    {NS(",\"tools\":[{\"type\":\"function\",\"name\":\"f\","
        "\"description\":5}]"), "tools[0].tools[0].description"},
    {NS(",\"description\":5,\"tools\":[]"), "tools[0].description"},
    {NS(",\"description\":\"d\",\"tools\":[{\"type\":\"function\",\"name\":"
        "\"f\",\"description\":5}]"), "tools[0].tools[0].description"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"namespace\",\"tools\":[]}]}",
     "tools[0].name"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"namespace\",\"name\":\"\","
     "\"tools\":[]}]}", "tools[0].name"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"namespace\",\"name\":\"" X200
     "\",\"tools\":[" FN(X200) "]}]}", "tools[0].tools[0].name"},
    {NS(",\"tools\":[" FN("f") "]}],\"tool_choice\":{\"type\":\"function\","
        "\"name\":\"f\"},\"x\":[{"), "tool_choice"},
    {CU(""), OKAY},
    {CU(",\"description\":5"), "tools[0].description"},
    {CU(",\"format\":null"), OKAY},
    {CU(",\"format\":{\"type\":\"text\"}"), OKAY},
    {CU(",\"format\":5"), "tools[0].format.type"},
    {CU(",\"format\":{}"), "tools[0].format.type"},
    {CU(",\"format\":{\"type\":\"json\"}"), "tools[0].format.type"},
    {CU(",\"format\":{\"type\":\"grammar\",\"definition\":\"a\"}"),
     "tools[0].format.syntax"},
    {CU(",\"format\":{\"type\":\"grammar\",\"syntax\":\"gbnf\","
        "\"definition\":\"a\"}"), "tools[0].format.syntax"},
    {CU(",\"format\":{\"type\":\"grammar\",\"syntax\":\"regex\"}"),
     "tools[0].format.definition"},
    {CU(",\"format\":{\"type\":\"grammar\",\"syntax\":\"regex\","
        "\"definition\":\"[\"}"), OKAY},
    {CU("},{\"type\":\"custom\""), "tools[1].name"},
    {CU("},{\"type\":\"function\",\"name\":\"f\""), "tools[1].name"},
    {CU("}],\"tool_choice\":{\"type\":\"custom\",\"name\":\"f\"},\"x\":[{"),
     OKAY},
    {CU("}],\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"},\"x\":["
        "{"), "tool_choice"},
    {CU("}],\"tool_choice\":{\"type\":\"custom\"},\"x\":[{"), "tool_choice"},
    {NS(",\"tools\":[{\"type\":\"custom\",\"name\":\"f\",\"format\":{}}]"),
     "tools[0].tools[0].format.type"},
    {"{\"input\":[{\"type\":\"additional_tools\"}]}", "input[0].tools"},
    /* both names are those of a tool */
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"namespace\",\"name\":\"a\","
     "\"tools\":[" FN("f") "]}],\"tool_choice\":{\"type\":\"function\","
     "\"namespace\":\"a\",\"name\":\"zzz\"}}", "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"namespace\",\"name\":\"a\","
     "\"tools\":[" FN("f") "]}],\"tool_choice\":{\"type\":\"allowed_tools\","
     "\"mode\":\"auto\",\"tools\":[" FN("a") "]}}", "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"custom\",\"name\":\"f\","
     "\"format\":{\"type\":\"grammar\",\"syntax\":\"lark\",\"definition\":5}"
     "}]}", "tools[0].format.definition"},
    {"{\"input\":[{\"type\":\"additional_tools\",\"tools\":5}]}",
     "input[0].tools"},
    {"{\"input\":[{\"type\":\"additional_tools\",\"tools\":[{\"type\":"
     "\"function\"}]}]}", "input[0].tools[0].name"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":"
     "\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"namespace\":5,"
     "\"arguments\":\"{}\"}]}", "input[1].namespace"},
    {"{\"input\":\"hi\",\"tool_choice\":\"required\"}", "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"web_search\"}],\"tool_c"
     "hoice\":\"required\"}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tool_choice\":\"none\"}", OKAY},
    {"{\"input\":\"hi\",\"tool_choice\":\"auto\"}", OKAY},
    {"{\"input\":\"hi\",\"tool_choice\":5}", "tool_choice"},
    {"{\"input\":\"hi\",\"tool_choice\":\"any\"}", "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"function\",\"name\":\"f\"}}",
     OKAY},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"function\",\"name\":\"g\"}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"function\"}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name"
     "\":\"f\"}}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"mcp\",\"name\":\"g\"}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"web_search_preview\"}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"mcp\",\"server_label\":\"x\"}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":\"required\"}",
     OKAY},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto"
     "\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"}]}}",
     OKAY},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"requ"
     "ired\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"},{\"type"
     "\":\"web_search\"}]}}",
     OKAY},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"allowed_tools\",\"tools\":[{\"t"
     "ype\":\"function\",\"name\":\"f\"}]}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto"
     "\",\"tools\":[{\"type\":\"function\",\"name\":\"x\"}]}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto"
     "\",\"tools\":[5]}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f"
     "\"},{\"type\":\"mcp\",\"name\":\"g\"},{\"type\":\"web_search"
     "\"}],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto"
     "\"}}",
     "tool_choice"},
    {"{\"input\":[{\"role\":\"user\",\"content\":[{\"type\":\"refusal\","
     "\"refusal\":\"no\"}]}]}",
     "input[0].content[0].type"},
    {"{\"input\":[{\"role\":\"user\",\"content\":\"hi\"},{\"type\":\"c"
     "ustom_tool_call\",\"call_id\":\"c\",\"name\":\"f\",\"input\":{}}]}",
     "input[1].input"},
    {"{\"input\":\"hi\",\"include\":[\"web_search_call.results\",\"file_s"
     "earch_call.results\",\"web_search_call.action.sources\",\"message.i"
     "nput_image.image_url\",\"computer_call_output.output.image_url\",\""
     "code_interpreter_call.outputs\"]}",
     OKAY},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"}"
     "],\"tool_choice\":{\"type\":\"custom\",\"name\":\"f\"}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"f\"}"
     "],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"t"
     "ools\":[{\"type\":\"custom\",\"name\":\"f\"}]}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"5\"}"
     "],\"tool_choice\":{\"type\":\"allowed_tools\",\"mode\":\"auto\",\"t"
     "ools\":[{\"type\":\"function\",\"name\":5}]}}",
     "tool_choice"},
    {"{\"input\":\"hi\",\"tools\":[{\"type\":\"function\",\"name\":\"5\"}"
     "],\"tool_choice\":{\"type\":\"function\",\"name\":5}}",
     "tool_choice"},
};

static struct arena arena;
static struct body body;
static struct err err;

static enum st parse(const char *json, size_t n, const struct body_past *past)
{
    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, 64u << 20);
    return body_parse_items(&body, &arena, (struct text){json, n}, past,
                            &err);
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        enum st st = parse(r->json, strlen(r->json), NULL);

        if (r->where) {
            is_int(st, ST_INVALID, "%.70s", r->json);
            is_str(err.where, r->where, "names its field");
        } else if (!ok(!st, "%.70s", r->json)) {
            printf("# %s: %s\n", err.where, err.text);
        }
    }
}

/* Each of the tools is looked for in the list. */
static void test_allowed(int n, const char *where)
{
    struct buf b;

    buf_init(&b, 1 << 16);
    buf_puts(&b, "{\"input\":\"hi\",\"tools\":[{\"type\":\"function\","
                 "\"name\":\"f\"}],\"tool_choice\":{\"type\":"
                 "\"allowed_tools\",\"mode\":\"auto\",\"tools\":[");
    for (int i = 0; i < n; i++)
        buf_printf(&b, "%s{\"type\":\"function\",\"name\":\"f\"}",
                   i ? "," : "");
    buf_puts(&b, "]}}");
    is_int(parse(b.p, b.n, NULL), where ? ST_INVALID : ST_OK,
           "%d allowed tools", n);
    is_str(err.where, where ? where : "", "as many as there may be tools");
    buf_release(&b);
}

int main(void)
{
    test_rows();
    test_allowed(128, NULL);
    test_allowed(129, "tool_choice");
    arena_release(&arena);
    return done();
}
