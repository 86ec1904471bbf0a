// /v1/responses with the official package: text, streams, tools, reasoning,
// forms, limits, errors, streams that are left. What is stored is in
// responses-stored.mjs. The tools and phrasings are those that
// contrib/demo-model/gen_data.py trained.
import OpenAI from "openai";
import { zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import { z } from "zod";
import { accumulated, ai, calls, everyWay, gist, judged, said, streamed,
  thought, types, whole, wire } from "./lib/responses.mjs";
import { client, done, endlessForm, get, is, ok, refusal, until }
  from "./lib/tap.mjs";

const france = "What is the capital of France?";
const quick = { temperature: 0, reasoning: { effort: "none" }, store: false };
const deep = { temperature: 0, reasoning: { effort: "high" }, store: false };
const user = (text) => ({ role: "user", content: text });
const count = async (params) => (await ai.responses.inputTokens.count(
  { model: "demo", ...params })).input_tokens;

// --- text ------------------------------------------------------------------
const text = await everyWay({ ...quick, input: france }, "text");
const { response: plain } = text;
ok(/Paris/.test(said(plain)), "a string is a question");
is([plain.status, plain.error, plain.incomplete_details],
  ["completed", null, null], "completed, without error or reason");
is(plain.output.map((i) => i.type), ["message"], "without thinking: one item");
ok(/^resp_[0-9a-f]{24}$/.test(plain.id), "its id");
is(plain.usage.input_tokens + plain.usage.output_tokens,
  plain.usage.total_tokens, "usage adds up");
ok(plain.completed_at >= plain.created_at, "completed_at is there");
ok(typeof plain.timings === "object" && typeof plain.metrics === "object",
  "with timings and metrics");
is("skipped_tools" in plain, false, "and no skipped_tools, as none were");
ok(text.headers.get("content-type").startsWith("text/event-stream"),
  "a stream says so");
for (const [name, input] of Object.entries({
  "short messages": [user(france)],
  "message items": [{ type: "message", ...user(france) }],
  "text parts": [{ role: "user", content: [
    { type: "input_text", text: france }] }] }))
  is(gist(await whole({ ...quick, input }, name)), gist(plain),
    `${name} are the same question`);

const who = "What is your name?";
const named = await everyWay({ ...quick, instructions: "Your name is Zoe.",
  input: who }, "instructions");
ok(/Zoe/.test(said(named.response)), "instructions are followed");
is(named.response.instructions, "Your name is Zoe.", "and come back");
for (const role of ["developer", "system"])
  is(gist(await whole({ ...quick, input: [
    { role, content: "Your name is Zoe." }, user(who)] }, role)),
  gist(named.response), `a ${role} message is the same`);
const turns = await whole({ ...quick, input: [user("My name is Anna."),
  { role: "assistant", content: "Nice to meet you, Anna!" },
  user("What is my name?")] }, "turns");
ok(/Anna/.test(said(turns)), "an earlier turn is known");
is((await whole({ ...quick, input: france, metadata: { a: "1" } }, "metadata"))
  .metadata, { a: "1" }, "metadata come back");

// --- reasoning -------------------------------------------------------------
const mind = await everyWay({ ...deep, input: france }, "reasoning");
is(mind.response.output.map((i) => i.type), ["reasoning", "message"],
  "reasoning is an item before the message");
ok(thought(mind.response).length > 0, "with its text");
ok(!/think>/.test(thought(mind.response) + said(mind.response)),
  "without the model's tags");
ok(mind.response.usage.output_tokens_details.reasoning_tokens > 0, "counted");
is("encrypted_content" in mind.response.output[0]
  && mind.response.output[0].encrypted_content !== null, false,
"no encrypted_content, as nobody asked");
const sealed = await everyWay({ ...deep, input: france,
  include: ["reasoning.encrypted_content"] }, "sealed");
const [item] = sealed.response.output;
ok(/^pen1\./.test(item.encrypted_content), "include gives encrypted_content");

// --- tools -----------------------------------------------------------------
const weather = { type: "function", name: "get_weather", strict: false,
  description: "Get the weather for a city", parameters: { type: "object",
    properties: { city: { type: "string" } }, required: ["city"],
    additionalProperties: false } };
const timer = { type: "function", name: "set_timer", strict: false,
  description: "Set a timer", parameters: { type: "object",
    properties: { minutes: { type: "integer" } }, required: ["minutes"],
    additionalProperties: false } };
const tools = [weather, timer];
const rain = user("What is the weather in Paris?");
const sunny = '{"temperature": 21, "condition": "sunny"}';
const asked = await everyWay({ ...quick, tools, input: [rain] }, "call");
is(calls(asked.response).map((c) => [c.name, JSON.parse(c.arguments)]),
  [["get_weather", { city: "Paris" }]], "the right call, with its argument");
is(asked.response.output.length, 1, "and nothing beside it");
is(asked.response.tools, tools, "the tools come back as they were sent");
const result = (r, output = sunny) => ({ type: "function_call_output",
  call_id: calls(r)[0].call_id, output });
const answer = await everyWay({ ...quick, tools, input: [rain,
  ...asked.response.output, result(asked.response)] }, "round trip");
ok(/sunny in Paris/.test(said(answer.response)), "the result becomes words");
is(calls(answer.response), [], "without another call");
is(gist(await whole({ ...quick, tools, input: [rain, ...asked.response.output,
  result(asked.response, [{ type: "input_text", text: sunny }])] }, "parts")),
gist(answer.response), "a result in parts is the same");

const both = await everyWay({ ...deep, tools, input: [rain],
  include: ["reasoning.encrypted_content"] }, "thought and call");
is(both.response.output.map((i) => i.type), ["reasoning", "function_call"],
  "thinking, then the call");
const { output } = both.response;
const back = (first) => ({ ...deep, tools, input: [rain, ...first, output[1],
  result(both.response)] });
const { content, ...opaque } = output[0];
const { encrypted_content, ...open } = output[0];
const full = await count({ ...back([output[0]]), temperature: undefined,
  store: undefined });
for (const [name, first, same] of [
  ["its encrypted_content alone", [opaque], true],
  ["its text alone", [open], true],
  ["a foreign encrypted_content", [{ ...opaque, encrypted_content: "x" }],
    false],
  ["no reasoning", [], false]]) {
  const { temperature, store, ...body } = back(first);
  is(await count(body) === full, same, `${name}: ${same ? "the same prompt"
    : "a shorter prompt"}`);
}
ok(/sunny in Paris/.test(said(await whole(back([opaque]), "sealed thought"))),
  "a sealed thought is taken back");

is(calls(await whole({ ...quick, tools, tool_choice: "none", input: [rain] },
  "none")), [], "tool_choice none: no call");
for (const [tool_choice, names] of [["required", ["get_weather", "set_timer"]],
  [{ type: "function", name: "set_timer" }, ["set_timer"]],
  [{ type: "function", name: "get_weather" }, ["get_weather"]]]) {
  const name = `tool_choice ${tool_choice.name ?? tool_choice}`;
  const forced = (await everyWay({ ...quick, tools, tool_choice, input: france,
    max_output_tokens: 300 }, name)).response;
  is(forced.tool_choice, tool_choice, `${name}: comes back`);
  if (forced.status === "incomplete") continue;
  ok(calls(forced).length >= 1 && calls(forced).every(
    (c) => names.includes(c.name)), `${name}: is called`);
  is(said(forced), "", `${name}: without text`);
}

// --- tools of a namespace, and those that take a text -----------------------
const minutes = { type: "function", name: "set_timer", parameters: {
  type: "object", properties: { minutes: { type: "integer" } },
  required: ["minutes"] } };
const note = { type: "custom", name: "note", description: "Write a note",
  format: { type: "grammar", syntax: "lark", definition: "start: /.+/" } };
const kitchen = { type: "namespace", name: "kitchen", description: "At home.",
  tools: [minutes, note] };
const eighteen = { role: "user", content: "Set a timer for 18 minutes." };
for (const [name, its, tool_choice, want] of [
  ["a namespace", [kitchen, weather], { type: "function",
    name: "kitchen__set_timer" }, ["function_call", "set_timer", "kitchen"]],
  ["a custom tool", [note, weather], { type: "custom", name: "note" },
    ["custom_tool_call", "note", undefined]],
  ["a custom tool of a namespace", [kitchen], { type: "custom",
    name: "kitchen__note" }, ["custom_tool_call", "note", "kitchen"]]]) {
  const { response } = await everyWay({ ...quick, tools: its, tool_choice,
    input: [eighteen], max_output_tokens: 300 }, name);
  const [call] = response.output;
  is(response.tools, its, `${name}: comes back`);
  is("skipped_tools" in response, false, `${name}: nothing is skipped`);
  is([call.type, call.name, call.namespace], want, `${name}: is called`);
  const output = { type: `${call.type}_output`, call_id: call.call_id,
    output: "done" };
  const input = [eighteen, call, output];
  const next = await whole({ ...quick, tools: its, input }, `${name}, next`);
  is([next.status, await count({ tools: its, input, reasoning:
    quick.reasoning })], ["completed", next.usage.input_tokens],
  `${name}: its call is taken back`);
}

// --- tools that nobody can serve here --------------------------------------
const foreign = [{ type: "web_search" }, weather, { type: "mcp",
  server_label: "shell", server_url: "https://x.example" }, { type: "web_search", search_context_size: "low" }];
const skip = { ...quick, input: [rain], tools: foreign };
const some = await whole(skip, "skipped");
is(some.skipped_tools, ["web_search", "mcp"],
  "skipped_tools lists types once");
is(wire.last().headers.get("x-skipped-tools"), "web_search, mcp",
  "and so does the header");
is(some.tools, [weather], "tools has those that are served");
is(calls(some).map((c) => c.name), ["get_weather"], "which work");
const sk = await streamed(skip, "skipped, streamed");
is([sk.response.skipped_tools, sk.headers.get("x-skipped-tools")],
  [["web_search", "mcp"], "web_search, mcp"], "a stream says the same");

// --- forms -----------------------------------------------------------------
const City = z.object({ name: z.enum(["Paris", "Rome", "Łódź"]),
  sure: z.boolean(), code: z.string().regex(/^[A-Z]{2}$/) });
for (const [name, base] of [["form", quick], ["form behind thinking", deep]]) {
  const ask = { model: "demo", ...base, input: france, max_output_tokens: 1700,
    text: { format: zodTextFormat(City, "city") } };
  const p = await ai.responses.parse(ask);
  const one = p.output_parsed;
  is(p.status, "completed", `${name}: it came to its end`);
  ok(City.safeParse(one).success, `${name}: ${JSON.stringify(one)} fits`);
  is(Object.keys(one), Object.keys(City.shape), `${name}: in its order`);
  is((await accumulated(ask, name)).output_parsed, one,
    `${name}: streamed, too`);
}
const object = await whole({ ...deep, input: france,
  text: { format: { type: "json_object" } } }, "json_object");
is(typeof JSON.parse(said(object)), "object", "json_object: it is JSON");
const Timer = z.object({ minutes: z.union([z.literal(5), z.literal(10)]) });
const parsed = await ai.responses.parse({ model: "demo", ...quick,
  input: "Set a timer for 18 minutes.", max_output_tokens: 300, tools: [
    zodResponsesFunction({ name: "set_timer", description: "Set a timer",
      parameters: Timer })] });
is(calls(parsed).length, 1, "zodResponsesFunction: it was called");
ok(Timer.safeParse(calls(parsed)[0].parsed_arguments).success,
  "zodResponsesFunction: strict arguments fit");

// --- limits and logprobs ---------------------------------------------------
const cut = await everyWay({ ...quick, max_output_tokens: 3, input: france },
  "limit");
is([cut.response.status, cut.response.incomplete_details],
  ["incomplete", { reason: "max_output_tokens" }], "a limit is told as such");
is(cut.events.at(-1).type, "response.incomplete", "and ends its stream so");
is(cut.response.usage.output_tokens, 3, "and is kept");
is(cut.response.max_output_tokens, 3, "and comes back");
is(cut.response.output.at(-1).status, "incomplete", "the item says so, too");
ok(said(plain).startsWith(said(cut.response)), "it is the answer's beginning");
const probs = await everyWay({ ...quick, input: france, top_logprobs: 2,
  include: ["message.output_text.logprobs"] }, "logprobs");
const list = probs.response.output[0].content[0].logprobs;
is(list.map((l) => l.token).join(""), said(probs.response),
  "logprobs: the tokens are the text");
ok(list.every((l) => l.top_logprobs.length === 2 && l.logprob <= 0
  && l.top_logprobs[0].logprob >= l.top_logprobs[1].logprob),
"logprobs: two alternatives each, the best first");
is(probs.logprobs.map((l) => l.token).join(""), said(probs.response),
  "logprobs: those of the deltas are all of them");
is(plain.output[0].content[0].logprobs ?? [], [], "nobody asked: none");

// --- counting --------------------------------------------------------------
for (const [name, body] of Object.entries({
  text: { input: france, reasoning: { effort: "none" } },
  instructions: { input: who, instructions: "Your name is Zoe.",
    reasoning: { effort: "none" } },
  tools: { input: [rain], tools, reasoning: { effort: "high" } } })) {
  const n = await ai.responses.inputTokens.count({ model: "demo", ...body });
  types.tokens(JSON.parse(wire.last().text), `count ${name}`);
  is(n.input_tokens, (await whole({ ...body, temperature: 0, store: false,
    max_output_tokens: 1 }, `counted ${name}`)).usage.input_tokens,
  `inputTokens.count, ${name}: what the answer says`);
}

// --- errors ----------------------------------------------------------------
async function refused(params, type, param, name, from = ai) {
  for (const stream of [false, true]) {
    const e = await refusal(from.responses.create(
      { model: "demo", ...quick, input: france, ...params, stream }));
    ok(e instanceof type, `${name}: ${type.name}, got ${e.constructor?.name}`);
    if (param !== undefined) is(e.param, param, `${name}: param`);
    if (from !== ai) continue;
    const { headers, text } = wire.last();
    types.error(JSON.parse(text), name);
    ok(headers.get("x-request-id"), `${name}: with a request id`);
  }
}
const { AuthenticationError, BadRequestError, NotFoundError } = OpenAI;
await refused({ model: "nothing" }, NotFoundError, "model", "unknown model");
await refused({ input: [] }, BadRequestError, "input", "no input");
await refused({ input: 7 }, BadRequestError, "input", "a number as input");
await refused({ temperature: 3 }, BadRequestError, "temperature", "too hot");
await refused({ input: [{ type: "riddle" }] }, BadRequestError,
  "input[0].type", "unknown item");
await refused({ input: [{ role: "user", content: [{ type: "input_text",
  text: france }, { type: "input_image", detail: "auto",
  image_url: "data:image/png;base64,AAAA" }] }] }, BadRequestError,
"input[0].content[1].type", "an image");
await refused({ tools: foreign, tool_choice: { type: "function",
  name: "shell" } }, BadRequestError, "tool_choice", "a tool that is skipped");
await refused({ background: true }, BadRequestError, "background",
  "background");
await refused({ previous_response_id: "resp_000000000000000000000000" },
  BadRequestError, "previous_response_id", "an unknown previous response");
await refused({ input: "word ".repeat(20000) }, BadRequestError, undefined,
  "a prompt over the context");
is(JSON.parse(wire.last().text).error.code, "context_length_exceeded",
  "which its code says");
await refused({}, AuthenticationError, undefined, "a wrong key",
  client("pk-wrong"));

// --- streams that are left -------------------------------------------------
const long = { model: "demo", ...quick, input: france, max_output_tokens: 3000,
  text: { format: { type: "json_schema", name: "long",
    schema: endlessForm } } };
let deltas = 0;
for await (const e of await ai.responses.create({ ...long, stream: true })) {
  if (e.type.endsWith(".delta") && ++deltas === 5) break;
}
is(deltas, 5, "a stream is left in its middle");
const running = async (n) => await until(async () =>
  (await get("/health")).json.running === n, 60000);
ok(await running(0), "and stops");
const stop = new AbortController();
const silent = refusal(client().responses.create(long,
  { signal: stop.signal }));
ok(await running(1), "a whole answer is being made");
stop.abort();
ok(await silent instanceof OpenAI.APIUserAbortError, "and left");
judged();
done();
