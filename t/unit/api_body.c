/*
 * Bodies and the field that the answer names. The expectations follow
 * OpenAI's API reference for the shapes and our written decisions for the
 * rest (penstock compat); case numbers are those of public trouble reports.
 */
#include "api/body.h"
#include "api/compat.h"
#include "api/error.h"
#include "json/read.h"
#include "t/lib/tap.h"


#define OKAY NULL
#define U "{\"role\":\"user\",\"content\":\"hi\"}"
#define M "\"messages\":[" U "]"
#define P "\"prompt\":\"hi\""
#define F "{\"type\":\"function\",\"function\":{\"name\":\"f\"}}"
#define CALLS(list) "{\"messages\":[" U ",{\"role\":\"assistant\"," \
                    "\"content\":null,\"tool_calls\":" list "}]}"

static const struct row {
    enum compat_wire wire;
    const char *json;
    const char *where; /* NULL: accepted */
} rows[] = {
    /* the body itself */
    {0, "", ""},
    {0, "null", ""},
    {0, "[]", ""},
    {0, "\"x\"", ""},
    {0, "{:\"model\"}", ""},
    {0, "{" M, ""},
    {0, "{" M "} x", ""},
    {0, "{}", "messages"},
    {1, "[]", ""},
    {1, "{", ""},
    /* messages */
    {0, "{\"messages\":null}", "messages"},
    {0, "{\"messages\":[]}", "messages"},
    {0, "{\"messages\":{}}", "messages"},
    {0, "{\"messages\":\"hi\"}", "messages"},
    /* before any other field (the last: the table's) */
    {0, "{\"audio\":{},\"temperature\":9,\"messages\":[]}", "messages"},
    {0, "{\"audio\":{},\"messages\":[" U ",{\"role\":\"x\"}]}",
     "messages[1].role"},
    {1, "{\"echo\":true,\"prompt\":\"\"}", "prompt"},
    {1, "{\"echo\":true,\"prompt\":\"x\"}", "echo"},
    {0, "{\"messages\":[7]}", "messages[0]"},
    {0, "{\"messages\":[" U ",null]}", "messages[1]"},
    {0, "{\"messages\":[{}]}", "messages[0].role"},
    {0, "{\"messages\":[{\"role\":null}]}", "messages[0].role"},
    {0, "{\"messages\":[{\"role\":5,\"content\":\"x\"}]}", "messages[0].role"},
    {0, "{\"messages\":[" U ",{\"role\":\"robot\",\"content\":\"x\"}]}",
     "messages[1].role"},
    {0, "{\"messages\":[{\"role\":\"User\",\"content\":\"x\"}]}",
     "messages[0].role"},
    {0, "{\"messages\":[{\"role\":\"user\\u0000\",\"content\":\"x\"}]}",
     "messages[0].role"},
    {0, "{\"messages\":[" U ",{\"role\":\"tool\",\"content\":\"42\","
        "\"tool_call_id\":\"c\"}]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"function\",\"content\":\"42\"}]}",
     "messages[1].role"},
    {0, "{\"messages\":[{\"role\":\"system\",\"content\":\"x\"}]}",
     "messages"},
    {0, "{\"messages\":[{\"role\":\"assistant\",\"content\":\"x\"}]}",
     "messages"},
    {0, "{\"messages\":[{\"role\":\"system\",\"content\":\"x\"}," U "]}",
     OKAY},
    {0, "{\"messages\":[{\"role\":\"developer\",\"content\":\"x\"}," U "]}",
     OKAY},
    /* where a system message may stand is the chat format's to say */
    {0, "{\"messages\":[" U ",{\"role\":\"system\",\"content\":\"x\"}]}",
     OKAY},
    /* neighbours of one role are no fault (C37) */
    {0, "{\"messages\":[{\"role\":\"system\",\"content\":\"s\"}," U "," U
        "]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":\"a\"},"
        "{\"role\":\"assistant\",\"content\":\"b\"}," U "]}", OKAY},
    /* content */
    {0, "{\"messages\":[{\"role\":\"user\"}]}", "messages[0].content"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":null}]}",
     "messages[0].content"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":7}]}",
     "messages[0].content"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":{}}]}",
     "messages[0].content"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":[]}]}",
     "messages[0].content"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":\"\"}]}", OKAY},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":[\"hi\"]}]}",
     "messages[0].content[0]"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":[{}]}]}",
     "messages[0].content[0].type"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":1}]}]}",
     "messages[0].content[0].type"},
    {0, "{\"messages\":[" U "," U ",{\"role\":\"user\",\"content\":["
        "{\"type\":\"text\",\"text\":\"a\"},{\"type\":\"image_url\","
        "\"image_url\":{\"url\":\"data:image/png;base64,AA==\"}}]}]}", OKAY},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"image_url\"}]}]}", "messages[0].content[0].image_url"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"image_url\",\"image_url\":{\"url\":1}}]}]}",
     "messages[0].content[0].image_url.url"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"image_url\",\"image_url\":\"https://x\"}]}]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"tool\",\"content\":["
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"x\"}}]}]}", OKAY},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"\",\"text\":\"x\"}]}]}", "messages[0].content[0].type"},
    {0, "{\"messages\":[{\"role\":\"system\",\"content\":["
        "{\"type\":\"image_url\",\"image_url\":{\"url\":\"x\"}}]}," U "]}",
     "messages[0].content[0].type"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"input_audio\"}]}]}", "messages[0].content[0].type"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"refusal\",\"refusal\":\"no\"}]}]}",
     "messages[0].content[0].type"},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":["
        "{\"type\":\"refusal\",\"text\":\"no\"}]}]}",
     "messages[1].content[0].refusal"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"text\"}]}]}", "messages[0].content[0].text"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"text\",\"text\":null}]}]}",
     "messages[0].content[0].text"},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":["
        "{\"type\":\"text\",\"text\":\"a\"}]}]}", OKAY},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":\"\\ud800\"}]}", ""},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":\"\\udc00\\ud800\"}]}",
     ""},
    {0, "{" M ",\"x\":{\"\\ud800\":1}}", ""},
    {1, "{\"prompt\":\"a\\u0000b\"}", OKAY},
    {1, "null", ""},
    {1, "\"x\"", ""},
    {1, "7", ""},
    {0, "7", ""},
    {0, "true", ""},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}", ""},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":\"a\\u0000b\"}]}",
     OKAY},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":\"x\","
        "\"name\":\"ann\"}]}", OKAY},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":\"x\","
        "\"name\":7}]}", "messages[0].name"},
    /* an assistant's message from before */
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\"}]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":null}]}",
     OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":7}]}",
     "messages[1].content"},
    {0, CALLS("7"),
     "messages[1].tool_calls"},
    {0, CALLS("{}"),
     "messages[1].tool_calls"},
    {0, CALLS("[7]"),
     "messages[1].tool_calls[0]"},
    {0, CALLS("[{}]"),
     "messages[1].tool_calls[0].function"},
    {0, CALLS("[{\"function\":[]}]"),
     "messages[1].tool_calls[0].function"},
    {0, CALLS("[{\"id\":7,\"function\":{\"name\":\"f\"}}]"),
     "messages[1].tool_calls[0].id"},
    {0, CALLS("[{\"type\":\"custom\",\"function\":{\"name\":\"f\"}}]"),
     "messages[1].tool_calls[0].type"},
    {0, CALLS("[{\"function\":{}}]"),
     "messages[1].tool_calls[0].function.name"},
    {0, CALLS("[{\"function\":{\"name\":\"\"}}]"),
     "messages[1].tool_calls[0].function.name"},
    {0, CALLS("[{\"function\":{\"name\":\"f\"}},{\"function\":{\"name\":3}}]"),
     "messages[1].tool_calls[1].function.name"},
    {0, CALLS("[{\"function\":{\"name\":\"f\",\"arguments\":7}}]"),
     "messages[1].tool_calls[0].function.arguments"},
    {0, CALLS("[{\"function\":{\"name\":\"f\",\"arguments\":[]}}]"),
     "messages[1].tool_calls[0].function.arguments"},
    {0, CALLS("[{\"function\":{\"name\":\"f\"}}]"),
     OKAY},
    {0, CALLS("[{\"id\":null,\"type\":null,\"function\":{\"name\":\"f\",\"arguments\":null}}]"),
     OKAY},
    {0, CALLS("[{\"id\":\"c\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]"),
     OKAY},
    {0, CALLS("[{\"function\":{\"name\":\"f\",\"arguments\":{\"a\":1}}}]"),
     OKAY},
    {0, CALLS("[{\"function\":{\"name\":\"f\",\"arguments\":\"no JSON\"}}]"),
     OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":\"x\","
        "\"tool_calls\":[]}]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":\"x\","
        "\"tool_calls\":null}]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"function_call\":{}}"
        "]}", "messages[1].function_call"},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":\"x\","
        "\"reasoning_content\":\"t\"}," U "]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":\"x\","
        "\"reasoning_content\":[]}]}", "messages[1].reasoning_content"},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":\"x\","
        "\"reasoning\":{}}]}", "messages[1].reasoning"},
    {0, "{\"messages\":[" U ",{\"role\":\"assistant\",\"content\":[]}," U
        "]}", OKAY},
    {0, "{\"messages\":[{\"role\":\"user\",\"content\":\"x\","
        "\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]}]}",
     "messages[0].tool_calls"},
    /* results: any order, ids missing or unmatched */
    {0, "{\"messages\":[" U ",{\"role\":\"tool\",\"content\":\"42\"}]}",
     OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"tool\",\"content\":null}]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"tool\"}]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"tool\",\"content\":{}}]}",
     "messages[1].content"},
    {0, "{\"messages\":[" U ",{\"role\":\"tool\",\"content\":\"4\","
        "\"tool_call_id\":4}]}", "messages[1].tool_call_id"},
    {0, "{\"messages\":[" U ",{\"role\":\"tool\",\"content\":\"4\","
        "\"tool\":4}]}", "messages[1].tool"},
    /* check 91: nobody asked anything */
    {0, "{\"messages\":[{\"role\":\"tool\",\"content\":\"4\"}]}",
     "messages"},
    /* tools of a system message */
    {0, "{\"messages\":[" U ",{\"role\":\"system\",\"tools\":[" F "]}]}",
     OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"system\",\"tools\":[" F "]}],"
        "\"tools\":[" F "]}", OKAY},
    {0, "{\"messages\":[" U ",{\"role\":\"system\",\"tools\":{}}]}",
     "messages[1].tools"},
    {0, "{\"messages\":[" U ",{\"role\":\"system\",\"tools\":[]}]}",
     "messages[1].content"},
    {0, "{\"messages\":[" U ",{\"role\":\"system\",\"tools\":[{}]}]}",
     "messages[1].tools[0].function"},
    {0, "{\"messages\":[" U ",{\"role\":\"user\",\"content\":\"x\","
        "\"tools\":7}]}", OKAY},
    /* model, stream */
    {0, "{" M ",\"model\":null}", OKAY},
    {0, "{" M ",\"model\":\"\"}", OKAY},
    {0, "{" M ",\"model\":7}", "model"},
    {0, "{" M ",\"stream\":\"true\"}", "stream"},
    {0, "{" M ",\"stream\":1}", "stream"},
    {0, "{" M ",\"stream\":null}", OKAY},
    {0, "{" M ",\"stream_options\":null}", OKAY},
    {0, "{" M ",\"stream_options\":{}}", OKAY},
    {0, "{" M ",\"stream_options\":[]}", "stream_options"},
    {0, "{" M ",\"stream_options\":{\"include_usage\":1}}",
     "stream_options.include_usage"},
    {0, "{" M ",\"stream_options\":{\"include_usage\":null}}", OKAY},
    /* output limits (C03) */
    {0, "{" M ",\"max_tokens\":0}", "max_tokens"},
    {0, "{" M ",\"max_tokens\":-1}", "max_tokens"},
    {0, "{" M ",\"max_tokens\":1.5}", "max_tokens"},
    {0, "{" M ",\"max_tokens\":\"5\"}", "max_tokens"},
    {0, "{" M ",\"max_tokens\":null}", OKAY},
    {0, "{" M ",\"max_tokens\":1000000000000}", OKAY},
    {0, "{" M ",\"max_tokens\":99999999999999999999}", "max_tokens"},
    {0, "{" M ",\"max_completion_tokens\":0}", "max_completion_tokens"},
    {0, "{" M ",\"max_completion_tokens\":true}", "max_completion_tokens"},
    {0, "{" M ",\"max_tokens\":5,\"max_completion_tokens\":6}",
     "max_completion_tokens"},
    {0, "{" M ",\"max_tokens\":5,\"max_completion_tokens\":5}", OKAY},
    {1, "{" P ",\"max_tokens\":0}", "max_tokens"},
    /* stop */
    {0, "{" M ",\"stop\":7}", "stop"},
    {0, "{" M ",\"stop\":{}}", "stop"},
    {0, "{" M ",\"stop\":null}", OKAY},
    {0, "{" M ",\"stop\":\"\"}", OKAY},
    {0, "{" M ",\"stop\":[]}", OKAY},
    {0, "{" M ",\"stop\":[\"a\",null]}", "stop[1]"},
    {0, "{" M ",\"stop\":[\"a\",\"\",3]}", "stop[2]"},
    {0, "{" M ",\"stop\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\","
        "\"9\",\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\"]}", OKAY},
    {0, "{" M ",\"stop\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\","
        "\"9\",\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"]}", "stop"},
    /* sampling (C02) */
    {0, "{" M ",\"temperature\":999999,\"top_p\":-1,"
        "\"repetition_penalty\":0}", "temperature"},
    {0, "{" M ",\"temperature\":999999}", "temperature"},
    {0, "{" M ",\"temperature\":2.0001}", "temperature"},
    {0, "{" M ",\"temperature\":-0.1}", "temperature"},
    {0, "{" M ",\"temperature\":1e400}", "temperature"},
    {0, "{" M ",\"temperature\":-1e400}", "temperature"},
    {0, "{" M ",\"temperature\":\"1\"}", "temperature"},
    {0, "{" M ",\"temperature\":true}", "temperature"},
    {0, "{" M ",\"temperature\":[1]}", "temperature"},
    {0, "{" M ",\"temperature\":0}", OKAY},
    {0, "{" M ",\"temperature\":2}", OKAY},
    {0, "{" M ",\"top_p\":-1}", "top_p"},
    {0, "{" M ",\"top_p\":0}", "top_p"},
    {0, "{" M ",\"top_p\":1.01}", "top_p"},
    {0, "{" M ",\"top_p\":1e-60}", OKAY},
    {0, "{" M ",\"top_p\":1}", OKAY},
    {0, "{" M ",\"top_k\":-5}", "top_k"},
    {0, "{" M ",\"top_k\":0.5}", "top_k"},
    {0, "{" M ",\"top_k\":0}", OKAY},
    {0, "{" M ",\"top_k\":9999999999}", OKAY},
    {0, "{" M ",\"min_p\":1.5}", "min_p"},
    {0, "{" M ",\"min_p\":-1e-9}", "min_p"},
    {0, "{" M ",\"min_p\":\"x\"}", "min_p"},
    {0, "{" M ",\"min_p\":0.05}", OKAY},
    {0, "{" M ",\"seed\":1.5}", "seed"},
    {0, "{" M ",\"seed\":\"7\"}", "seed"},
    {0, "{" M ",\"seed\":-9223372036854775808}", OKAY},
    {0, "{" M ",\"seed\":9223372036854775808}", "seed"},
    {1, "{" P ",\"temperature\":3}", "temperature"},
    /* choices (C32) */
    {0, "{" M ",\"n\":0}", "n"},
    {0, "{" M ",\"n\":17}", "n"},
    {0, "{" M ",\"n\":true}", "n"},
    {0, "{" M ",\"n\":2.5}", "n"},
    {0, "{" M ",\"n\":16}", OKAY},
    {0, "{" M ",\"n\":2,\"stream\":true}", "n"},
    {0, "{" M ",\"n\":1,\"stream\":true}", OKAY},
    {1, "{" P ",\"n\":2,\"stream\":true}", "n"},
    {1, "{" P ",\"n\":3,\"best_of\":2}", "best_of"},
    {1, "{" P ",\"n\":3,\"best_of\":3}", OKAY},
    {1, "{" P ",\"best_of\":1}", OKAY},
    {1, "{" P ",\"best_of\":\"1\"}", "best_of"},
    {1, "{\"prompt\":[\"a\",\"b\",\"c\",\"d\",\"e\"],\"n\":4}", "n"},
    {1, "{\"prompt\":[\"a\",\"b\",\"c\",\"d\"],\"n\":4}", OKAY},
    {1, "{\"prompt\":[\"a\",\"b\"],\"n\":9}", "n"},
    {1, "{\"prompt\":[1.0,2e0]}", OKAY},
    {1, "{\"prompt\":[1,2.5]}", "prompt[1]"},
    {1, "{\"prompt\":[1e-400]}", "prompt[0]"},
    {1, "{\"prompt\":[0e-400,0.0]}", OKAY},
    {1, "{" P ",\"seed\":1e-400}", "seed"},
    {1, "{\"prompt\":[\"a\",\"b\"],\"stream\":true}", "prompt"},
    /* a completion knows nothing of reasoning */
    {1, "{" P ",\"reasoning_effort\":\"huge\"}", OKAY},
    /* forced text and formats */
    {0, "{" M ",\"structured_outputs\":null}", OKAY},
    {0, "{" M ",\"structured_outputs\":{}}", "structured_outputs"},
    {0, "{" M ",\"structured_outputs\":\"x\"}", "structured_outputs"},
    {0, "{" M ",\"structured_outputs\":{\"choice\":[\"a\"]}}", OKAY},
    {0, "{" M ",\"structured_outputs\":{\"choice\":[\"a\",\"b\"]}}", OKAY},
    {0, "{" M ",\"structured_outputs\":{\"choice\":[]}}",
     "structured_outputs.choice"},
    {0, "{" M ",\"structured_outputs\":{\"choice\":\"a\"}}",
     "structured_outputs.choice"},
    {0, "{" M ",\"structured_outputs\":{\"choice\":[\"\"]}}",
     "structured_outputs.choice[0]"},
    {0, "{" M ",\"structured_outputs\":{\"choice\":[1]}}",
     "structured_outputs.choice[0]"},
    {0, "{" M ",\"structured_outputs\":{\"regex\":\"a\"}}", OKAY},
    {0, "{" M ",\"structured_outputs\":{\"json\":{}}}", OKAY},
    {0, "{" M ",\"structured_outputs\":{\"choice\":[\"a\"],\"json\":{}}}",
     "structured_outputs"},
    {0, "{" M ",\"structured_outputs\":{\"grammar\":\"a\"}}",
     "structured_outputs.grammar"},
    {0, "{" M ",\"response_format\":{\"type\":\"text\"}}", OKAY},
    {0, "{" M ",\"response_format\":\"text\"}", "response_format"},
    {0, "{" M ",\"response_format\":{}}", "response_format.type"},
    {0, "{" M ",\"response_format\":{\"type\":\"json_object\"}}", OKAY},
    {1, "{" P ",\"response_format\":{\"type\":\"json_object\"}}",
     "response_format.type"},
    {0, "{" M ",\"response_format\":{\"type\":\"json\"}}",
     "response_format.type"},
    {0, "{" M ",\"response_format\":{\"type\":\"json_schema\"}}",
     "response_format.json_schema"},
    {0, "{" M ",\"response_format\":{\"type\":\"json_schema\","
        "\"json_schema\":{\"name\":\"x\"}}}",
     "response_format.json_schema.schema"},
    {0, "{" M ",\"response_format\":{\"type\":\"json_schema\","
        "\"json_schema\":{\"schema\":[]}}}",
     "response_format.json_schema.schema"},
    {0, "{" M ",\"response_format\":{\"type\":\"json_schema\","
        "\"json_schema\":{\"name\":\"x\",\"schema\":{}}}}", OKAY},
    {0, "{" M ",\"modalities\":[\"text\"]}", OKAY},
    {0, "{" M ",\"modalities\":[\"audio\"]}", "modalities"},
    {0, "{" M ",\"modalities\":[]}", "modalities"},
    /* tools */
    {0, "{" M ",\"tools\":[]}",
     OKAY},
    {0, "{" M ",\"tools\":[" F "]}",
     OKAY},
    {0, "{" M ",\"tools\":\"f\"}",
     "tools"},
    {0, "{" M ",\"tools\":{}}",
     "tools"},
    {0, "{" M ",\"tools\":[" F ",7]}",
     "tools[1]"},
    {0, "{" M ",\"tools\":[{\"type\":\"web\"}]}",
     "tools[0].type"},
    {0, "{" M ",\"tools\":[{\"type\":\"function\"}]}",
     "tools[0].function"},
    {0, "{" M ",\"tools\":[{\"function\":7}]}",
     "tools[0].function"},
    {0, "{" M ",\"tools\":[{\"function\":{}}]}",
     "tools[0].function.name"},
    {0, "{" M ",\"tools\":[" F ",{\"function\":{\"name\":\"\"}}]}",
     "tools[1].function.name"},
    {0, "{" M ",\"tools\":[{\"function\":{\"name\":7}}]}",
     "tools[0].function.name"},
    {0, "{" M ",\"tools\":[{\"function\":{\"name\":\"a\\u0000\"}}]}",
     "tools[0].function.name"},
    {0, "{" M ",\"tools\":[{\"function\":{\"name\":\"a.b::c-d\"}}]}",
     OKAY},
    {0, "{" M ",\"tools\":[" F "," F "]}",
     "tools[1].function.name"},
    {0, "{" M ",\"tools\":[{\"function\":{\"name\":\"f\",\"description\":7}}]}",
     "tools[0].function.description"},
    {0, "{" M ",\"tools\":[{\"function\":{\"name\":\"f\",\"description\":null,\"parameters\":null}}]}",
     OKAY},
    {0, "{" M ",\"tools\":[{\"function\":{\"name\":\"f\",\"parameters\":[]}}]}",
     "tools[0].function.parameters"},
    {0, "{" M ",\"tools\":[{\"function\":{\"name\":\"f\",\"parameters\":\"{}\"}}]}",
     "tools[0].function.parameters"},
    {0, "{" M ",\"tools\":null,\"tool_choice\":\"auto\"}",
     OKAY},
    {0, "{" M ",\"tool_choice\":\"none\"}",
     OKAY},
    {0, "{" M ",\"tool_choice\":\"required\"}",
     "tool_choice"},
    {0, "{" M ",\"tools\":[],\"tool_choice\":\"required\"}",
     "tool_choice"},
    {0, "{" M ",\"tools\":[" F "],\"tool_choice\":\"required\"}",
     OKAY},
    {0, "{" M ",\"tools\":[" F "],\"tool_choice\":\"any\"}",
     "tool_choice"},
    {0, "{" M ",\"tools\":[" F "],\"tool_choice\":7}",
     "tool_choice"},
    {0, "{" M ",\"tools\":[" F "],\"tool_choice\":{\"type\":\"function\"}}",
     "tool_choice"},
    {0, "{" M ",\"tools\":[" F "],\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"g\"}}}",
     "tool_choice"},
    {0, "{" M ",\"tool_choice\":" F "}",
     "tool_choice"},
    {0, "{" M ",\"tools\":[" F "],\"tool_choice\":" F "}",
     OKAY},
    {0, "{" M ",\"add_generation_prompt\":1}",
     "add_generation_prompt"},
    {0, "{" M ",\"add_generation_prompt\":false}",
     OKAY},
    {0, "{" M ",\"parallel_tool_calls\":false}", OKAY},
    {0, "{" M ",\"parallel_tool_calls\":\"no\"}", "parallel_tool_calls"},
    {0, "{" M ",\"functions\":[{}]}", "functions"},
    {0, "{" M ",\"function_call\":{\"name\":\"f\"}}", "function_call"},
    {0, "{" M ",\"audio\":{}}", "audio"},
    {0, "{" M ",\"web_search_options\":{}}", "web_search_options"},
    {0, "{" M ",\"verbosity\":\"low\"}", "verbosity"},
    {1, "{" P ",\"echo\":true}", "echo"},
    {1, "{" P ",\"echo\":false}", OKAY},
    {1, "{" P ",\"suffix\":\"x\"}", "suffix"},
    {1, "{" P ",\"suffix\":\"\"}", OKAY},
    /* neutral and unknown fields */
    {0, "{" M ",\"user\":\"u\",\"metadata\":{\"a\":\"b\"},\"store\":false,"
        "\"service_tier\":\"auto\",\"prediction\":null}", OKAY},
    {0, "{" M ",\"whatever\":{\"deep\":[[[1]]]},\"add_bos\":7}", OKAY},
    /* completions */
    {1, "{}", "prompt"},
    {1, "{\"prompt\":null}", "prompt"},
    {1, "{\"prompt\":\"\"}", "prompt"},
    {1, "{\"prompt\":[]}", "prompt"},
    {1, "{\"prompt\":7}", "prompt"},
    {1, "{\"prompt\":{}}", "prompt"},
    {1, "{\"prompt\":[\"\"]}", "prompt[0]"},
    {1, "{\"prompt\":[\"a\",null]}", "prompt[1]"},
    {1, "{\"prompt\":[1,2,3]}", OKAY},
    {1, "{\"prompt\":[1,\"a\"]}", "prompt[1]"},
    {1, "{\"prompt\":[1,-1]}", "prompt[1]"},
    {1, "{\"prompt\":[4294967296]}", "prompt[0]"},
    {1, "{\"prompt\":[1.5]}", "prompt[0]"},
    {1, "{\"prompt\":[[1,2],[3]]}", OKAY},
    {1, "{\"prompt\":[[1,2],[]]}", "prompt[1]"},
    {1, "{\"prompt\":[[1,2],[3,\"x\"]]}", "prompt[1][1]"},
    {1, "{\"prompt\":[[]]}", "prompt[0]"},
    {1, "{\"prompt\":[\"a\",[3]]}", "prompt[1]"},
    {1, "{\"prompt\":[\"a\",3]}", "prompt[1]"},
    {1, "{\"prompt\":[[3],\"a\"]}", "prompt[1]"},
    {1, "{\"prompt\":[[3],4]}", "prompt[1]"},
    {1, "{\"prompt\":[[[3]]]}", "prompt[0][0]"},
    {1, "{\"prompt\":[null]}", "prompt[0]"},
    {1, "{\"prompt\":[true]}", "prompt[0]"},
    {1, "{\"prompt\":[2147483648]}", "prompt[0]"},
    {1, "{\"prompt\":[1,[2]]}", "prompt[1]"},
    {1, "{" P ",\"messages\":7}", OKAY},
    {1, "{\"prompt\":[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\","
        "\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\"]}", "prompt"},
};

static struct arena arena;
static struct body body;
static struct err err;

static enum st parse(enum compat_wire wire, const char *json, size_t n)
{
    err = (struct err){0};
    arena_release(&arena);
    arena_init(&arena, 16u << 20);
    if (wire == WIRE_CHAT)
        return body_parse_chat(&body, &arena, (struct text){json, n}, &err);
    return body_parse_completion(&body, &arena, (struct text){json, n}, &err);
}

static enum st chat(const char *json)
{
    return parse(WIRE_CHAT, json, strlen(json));
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *r = &rows[i];
        enum st st = parse(r->wire, r->json, strlen(r->json));
        bool pass;

        if (r->where)
            pass = st == ST_INVALID && !strcmp(err.where, r->where) &&
                   err.text[0] && !strchr(err.text, '\n');
        else
            pass = st == ST_OK;
        if (!ok(pass, "%s: %.90s", r->where ? r->where : "accepted", r->json))
            printf("#   got %s '%s' '%s'\n", st_name(st), err.where, err.text);
    }
}

static bool bytes_are(struct text t, const char *s, size_t n)
{
    return t.n == n && !memcmp(t.s ? t.s : "", s, n);
}
#define TEXT_IS(t, lit) bytes_are(t, lit, sizeof(lit) - 1)

static void test_messages(void)
{
    is_int(chat("{\"messages\":["
                "{\"role\":\"system\",\"content\":\"one\"},"
                "{\"role\":\"developer\",\"content\":\"\"},"
                "{\"role\":\"developer\",\"content\":[{\"type\":\"text\","
                "\"text\":\"tw\"},{\"type\":\"text\",\"text\":\"o\"}]},"
                "{\"role\":\"user\",\"content\":\"a\\u0000b\"},"
                "{\"role\":\"assistant\",\"reasoning_content\":\"hm\"},"
                "{\"role\":\"user\",\"content\":\"c\",\"name\":\"x\"}]}"),
           ST_OK, "system and developer before a conversation");
    is_int(body.chat.n_messages, 4, "leading ones are one message");
    ok(body.chat.messages[0].role == ROLE_SYSTEM &&
           TEXT_IS(body.chat.messages[0].content, "one\n\ntwo"),
       "joined by an empty line");
    ok(TEXT_IS(body.chat.messages[1].content, "a\0b"), "C35: NUL is data");
    ok(!body.chat.messages[2].content.n &&
           TEXT_IS(body.chat.messages[2].reasoning, "hm"),
       "an assistant without content, with reasoning");
    is_int(body.chat.think, THINK_DEFAULT, "thinking is not asked for");
    ok(!body.stream && body.n == 1 && !body.model.n && !body.max_tokens &&
           !body.seed_given && !body.n_stops && !body.n_choice &&
           !body.structured && !body.strict && !body_wants_json(&body) &&
           body.include_usage == USAGE_DEFAULT,
       "absent fields");
    ok(body.sampling.temperature == 1 && body.sampling.top_p == 1 &&
           !body.sampling.top_k && body.sampling.min_p == 0,
       "default sampling");
}

static void test_values(void)
{
    is_int(chat("{" M ",\"model\":\"m\",\"stream\":true,"
                "\"stream_options\":{\"include_usage\":true},"
                "\"max_completion_tokens\":5,\"stop\":[\"\",\"ab\",\"c\"],"
                "\"temperature\":0.5,\"top_p\":1e-60,\"top_k\":9999999999,"
                "\"min_p\":0.25,\"seed\":-1,"
                "\"structured_outputs\":{\"choice\":[\"z\"]}}"),
           ST_OK, "many fields");
    ok(TEXT_IS(body.model, "m") && body.stream &&
           body.include_usage == USAGE_YES && body.max_tokens == 5,
       "model, stream, usage, tokens");
    ok(body.n_stops == 2 && TEXT_IS(body.stops[0], "ab") &&
           TEXT_IS(body.stops[1], "c"),
       "empty stop strings are ignored");
    ok(body.sampling.temperature == 0.5f && body.sampling.top_p > 0 &&
           body.sampling.top_k == INT32_MAX && body.sampling.min_p == 0.25f,
       "sampling; top_p stays above 0");
    ok(body.seed_given && body.sampling.seed == UINT64_MAX, "seed -1");
    ok(body.structured == STRUCTURED_CHOICE && body.n_choice == 1 &&
           TEXT_IS(body.choice[0], "z") && !body_wants_json(&body),
       "a choice");
    is_int(chat("{" M ",\"structured_outputs\":{\"regex\":\"a+\"}}"), ST_OK,
           "a regex");
    ok(body.structured == STRUCTURED_REGEX && TEXT_IS(body.regex, "a+") &&
           !body_wants_json(&body), "is kept");
    is_int(chat("{" M ",\"structured_outputs\":{\"json\":{\"a\":1}}}"), ST_OK,
           "a schema");
    ok(body.structured == STRUCTURED_JSON && body.json->n == 1 &&
           body_wants_json(&body), "is kept");
    is_int(chat("{" M ",\"structured_outputs\":{\"json_object\":true}}"),
           ST_OK, "any object");
    ok(body.structured == STRUCTURED_OBJECT && body_wants_json(&body),
       "is JSON");
    is_int(chat("{" M ",\"response_format\":{\"type\":\"json_schema\","
                "\"json_schema\":{\"name\":\"n\",\"strict\":true,"
                "\"schema\":{}}}}"), ST_OK, "a strict schema");
    ok(body.strict && TEXT_IS(body.schema_name, "n") &&
           body_wants_json(&body), "with its name");
    is_int(chat("{" M ",\"n\":7,\"n\":2}"), ST_OK, "a key twice");
    is_int(body.n, 2, "the last one wins");
    is_int(chat("{" M ",\"stream_options\":{\"include_usage\":false}}"),
           ST_OK, "no usage");
    is_int(body.include_usage, USAGE_NO, "include_usage false");
    is_int(chat("{" M ",\"stream\":false}"), ST_OK, "stream false");
    ok(!body.stream, "is no stream");
    is_int(chat("{" M ",\"max_tokens\":1000000000000}"), ST_OK, "many tokens");
    is_int(body.max_tokens, 1 << 24, "are as many as a job can have");
}

static void test_prompts(void)
{
    static const char *const json[] = {
        "{\"prompt\":[\"a\",\"b\"],\"seed\":0}",
        "{\"prompt\":[[7],[3,4]]}",
        "{\"prompt\":[3,4]}",
    };

    is_int(parse(WIRE_COMPLETION, json[0], strlen(json[0])), ST_OK, "texts");
    is_int(body.n_prompts, 2, "two");
    ok(TEXT_IS(body.prompts[1].text, "b") && !body.prompts[1].ids, "in order");
    ok(body.seed_given && body.prompt_list, "seed 0 was given, and a list");
    is_int(parse(WIRE_COMPLETION, json[1], strlen(json[1])), ST_OK, "ids");
    ok(body.n_prompts == 2 && body.prompts[1].n_ids == 2 &&
           body.prompts[1].ids[1] == 4 && body.prompt_list, "of two prompts");
    is_int(parse(WIRE_COMPLETION, json[2], strlen(json[2])), ST_OK, "ids");
    ok(body.n_prompts == 1 && body.prompts[0].n_ids == 2 && !body.prompt_list,
       "of one");
}

static void test_long_stops(void)
{
    char json[STOP_BYTES_MAX + 200], s[STOP_BYTES_MAX + 2] = "";

    memset(s, 's', STOP_BYTES_MAX);
    snprintf(json, sizeof(json), "{" M ",\"stop\":[\"a\",\"%s\"]}", s);
    is_int(chat(json), ST_OK, "a stop string of %d bytes", STOP_BYTES_MAX);
    s[STOP_BYTES_MAX] = 's';
    snprintf(json, sizeof(json), "{" M ",\"stop\":[\"a\",\"%s\"]}", s);
    is_int(chat(json), ST_INVALID, "one of a byte more is refused");
    is_str(err.where, "stop[1]", "by its place");
}

/* C01 */
static void test_deep(void)
{
    static char json[40000];
    size_t n;

    for (int levels = 64; levels <= 10000; levels += 9936) {
        n = (size_t)snprintf(json, sizeof(json), "{" M ",\"x\":");
        memset(json + n, '[', (size_t)levels);
        n += (size_t)levels;
        json[n++] = '0';
        memset(json + n, ']', (size_t)levels);
        n += (size_t)levels;
        json[n++] = '}';
        if (levels == 64) {
            is_int(parse(WIRE_CHAT, json, n), ST_OK, "C01: 64 levels pass");
            continue;
        }
        ok(parse(WIRE_CHAT, json, n) != ST_OK, "C01: 10000 do not");
        is_int(api_error_of(err.st)->http, 400, "and are a 400");
    }
}

static void test_errors(void)
{
    struct buf b;

    buf_init(&b, BUF_EVENT);
    ok(chat("{" M ",\"top_k\":-5}") != ST_OK, "an error");
    api_error_json(&b, &err);
    is_str(b.p, "{\"error\":{\"message\":\"top_k: accepted is an integer of "
                "at least 0\",\"type\":\"invalid_request_error\",\"param\":"
                "\"top_k\",\"code\":null}}", "its object");
    buf_clear(&b);
    ok(err_set(&err, ST_CONTEXT, "messages", "too long") == ST_CONTEXT, "set");
    api_error_json(&b, &err);
    ok(strstr(b.p, "\"code\":\"context_length_exceeded\""), "C33: the code");
    buf_clear(&b);
    ok(err_set(&err, ST_IO, "/some/file", "read") == ST_IO, "set");
    api_error_json(&b, &err);
    ok(!strstr(b.p, "/some"), "a 500 does not show where");
    buf_release(&b);
    for (enum st st = ST_OK; st <= ST_INTERNAL; st++) {
        const struct api_error *a = api_error_of(st);

        ok(a->http >= 200 && a->http < 600 && a->reason[0] &&
               (st == ST_OK || a->type),
           "status %s", st_name(st));
        ok((a->http == 503 || a->http == 429) == (a->retry_after > 0),
           "Retry-After with 503 and 429 only");
    }
    is_int(api_error_of(ST_NOMEM)->retry_after, 15,
           "memory that is short: later than a full queue");
}

int main(void)
{
    arena_init(&arena, 16u << 20);
    test_rows();
    test_messages();
    test_values();
    test_prompts();
    test_long_stops();
    test_deep();
    test_errors();
    arena_release(&arena);
    return done();
}
