// LangChain (packages @langchain/openai and @langchain/core) against the
// whole site: text, streams, reasoning, a round of tools, JSON, leaving,
// errors.
import { AIMessageChunk, HumanMessage, SystemMessage, ToolMessage }
  from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI, OpenAI } from "@langchain/openai";
import { z } from "zod";
import { done, endless, fetchOptions, get, is, ok, refusal, until, url }
  from "./lib/tap.mjs";

const common = { model: "demo", temperature: 0, maxRetries: 0,
  apiKey: process.env.PEN_KEY,
  configuration: { baseURL: `${url}/v1`, fetchOptions } };
const noThinking = { modelKwargs: { reasoning_effort: "none" } };
function chat(fields = {}) {
  return new ChatOpenAI({ ...common, ...fields });
}
const question = "What is the capital of France?";

// --- text, whole and streamed ----------------------------------------------
const whole = await chat().invoke(question);
ok(/Paris/.test(whole.content), "invoke knows Paris");
ok(/France/.test(whole.additional_kwargs.reasoning_content),
  "the thinking is in additional_kwargs");
is(whole.response_metadata.finish_reason, "stop", "it ends with stop");
ok(/^chatcmpl-/.test(whole.id), "it has its id");
const u = whole.usage_metadata;
ok(u.input_tokens > 0 && u.output_tokens > 0
  && u.total_tokens === u.input_tokens + u.output_tokens, "usage adds up");
ok(u.output_token_details.reasoning > 0, "and tells reasoning apart");

let joined = new AIMessageChunk("");
let reasoning = "";
for await (const c of await chat().stream(question)) {
  joined = joined.concat(c);
  reasoning += c.additional_kwargs.reasoning_content ?? "";
}
is(joined.content, whole.content, "the stream has the same text");
is(reasoning, whole.additional_kwargs.reasoning_content,
  "and the same reasoning");
is(joined.usage_metadata.output_tokens, u.output_tokens, "the same usage");
is(joined.response_metadata.finish_reason, "stop", "one finish reason");
const quiet = chat(noThinking);
const plain = await quiet.invoke(question);
is([plain.additional_kwargs.reasoning_content ?? "", plain.content],
  ["", whole.content], "without thinking: the answer alone");
const shy = await quiet.invoke([new SystemMessage("You are helpful."),
  new HumanMessage(question)]);
ok(shy.content.length > 0, "a system message is taken");
const batch = await quiet.batch([question, question]);
is(batch.map((m) => m.content), [whole.content, whole.content],
  "batch asks side by side");

const text = await new OpenAI({ ...common, maxTokens: 12 }).invoke(
  "Once upon a time");
ok(text.length > 0, "the completions model answers");
const cut = whole.content.split(" ")[2];
is((await quiet.invoke(question, { stop: [cut] })).content,
  whole.content.slice(0, whole.content.indexOf(cut)),
  "stop ends the text in front of it");
const fox = chat({ temperature: 1, maxTokens: 24 });
const tell = async () => (await fox.invoke(
  "Tell me a long story about a fox named Ida.", { seed: 7 })).content;
is(await tell(), await tell(), "one seed, one text");

// --- a round of tools --------------------------------------------------------
const weather = tool(() => '{"temperature": 21, "condition": "sunny"}', {
  name: "get_weather", description: "Get the weather for a city",
  schema: z.object({ city: z.string() }) });
const timer = tool(() => "ok", { name: "set_timer",
  description: "Set a timer", schema: z.object({ minutes: z.int() }) });
const bound = quiet.bindTools([weather, timer]);
const history = [new HumanMessage("What is the weather in Paris?")];
const call = await bound.invoke(history);
is(call.tool_calls.map((c) => [c.name, c.args]),
  [["get_weather", { city: "Paris" }]], "bindTools: a call, typed");
is(call.invalid_tool_calls, [], "none that cannot be read");
is(call.response_metadata.finish_reason, "tool_calls", "it says so");
let pending = new AIMessageChunk("");
let deltas = 0;
for await (const c of await bound.stream(history)) {
  pending = pending.concat(c);
  deltas += c.tool_call_chunks?.length ?? 0;
}
is(pending.tool_calls.map((c) => [c.name, c.args]),
  [["get_weather", { city: "Paris" }]], "streamed: the same call");
ok(deltas > 1, "piece by piece");
const result = await weather.invoke(call.tool_calls[0]);
ok(ToolMessage.isInstance(result), "the tool runs");
const answer = await bound.invoke([...history, call, result]);
ok(/sunny in Paris/.test(answer.content), "its result becomes an answer");
is(answer.tool_calls, [], "without another call");
const minutes = await bound.invoke("Set a timer for 18 minutes.");
is(minutes.tool_calls.map((c) => c.args), [{ minutes: 18 }],
  "numbers are numbers");

// --- JSON --------------------------------------------------------------------
const schema = z.object({ city: z.enum(["Paris", "Rome"]) });
for (const method of ["jsonSchema", "functionCalling"]) {
  const r = await quiet.withStructuredOutput(schema, { method })
    .invoke(question);
  ok(schema.safeParse(r).success, `${method}: ${JSON.stringify(r)}`);
}

const cities = ['{"city": "Rome"}', '{"city": "Paris"}'];
const chosen = await chat({ modelKwargs: { reasoning_effort: "none",
  structured_outputs: { choice: cities } } }).invoke(question);
ok(cities.includes(chosen.content) && JSON.parse(chosen.content).city,
  "one of several JSON texts can be forced");
const sure = await chat({ ...noThinking, logprobs: true, topLogprobs: 2 })
  .invoke(question);
const tokens = sure.response_metadata.logprobs.content;
is(tokens.map((t) => t.token).join(""), whole.content,
  "logprobs tell of every token");
ok(tokens.every((t) => t.logprob <= 0 && t.top_logprobs.length === 2),
  "with its alternatives");

// --- leaving -----------------------------------------------------------------
const leave = new AbortController();
const { messages, ...hot } = endless;
let pieces = 0;
let e = null;
try {
  for await (const c of await chat({ ...noThinking, maxTokens: 3000,
    temperature: hot.temperature }).stream(messages[0].content,
    { seed: hot.seed, signal: leave.signal }))
    if (c.content && ++pieces === 5) leave.abort();
} catch (x) {
  e = x;
}
ok(pieces >= 5, "a stream ran");
ok(e === null || /abort/i.test(`${e.name} ${e.message}`),
  "an abort ends it as one");
ok(await until(async () => (await get("/health")).json.running === 0, 60000),
  "and nothing runs on");

// --- errors ------------------------------------------------------------------
e = await refusal(chat({ apiKey: "pk-x" }).invoke(question));
is([e.status, e.code], [401, "invalid_api_key"], "a wrong key is 401");
e = await refusal(chat({ model: "nothing" }).invoke(question));
is([e.status, e.code], [404, "model_not_found"], "an unknown model is 404");
e = await refusal(chat({ temperature: 9 }).invoke(question));
is([e.status, e.param], [400, "temperature"],
  "a wrong value is 400 with its field");
ok(/temperature/.test(e.message), "and a message that names it");
e = await refusal((async () => {
  for await (const c of await chat({ temperature: 9 }).stream(question))
    ok(!c, "no chunk");
})());
is([e.status, e.param], [400, "temperature"], "the same for a stream");
done();
