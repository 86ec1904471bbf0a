// /v1/messages with the official package: text, streams, tools, thinking,
// forms, limits, errors, keys, counts, streams that are left. The tools and
// phrasings are those that contrib/demo-model/gen_data.py trained.
import Anthropic from "@anthropic-ai/sdk";
import { zodOutputFormat } from "@anthropic-ai/sdk/helpers/zod";
import { z } from "zod";
import { accumulated, ai, anthropic, everyWay, gist, judged, prompt, said,
  streamed, types, uses, whole, wire } from "./lib/messages.mjs";
import { done, endlessForm, get, is, ok, refusal, siteFetch, until, url }
  from "./lib/tap.mjs";

const user = (content) => ({ role: "user", content });
const france = [user("What is the capital of France?")];
const quick = { temperature: 0, messages: france };

// --- text ------------------------------------------------------------------
const text = await everyWay(quick, "text");
const { message: plain } = text;
ok(/Paris/.test(said(plain)), "a question is answered");
is([plain.type, plain.role, plain.model, plain.stop_reason,
  plain.stop_sequence], ["message", "assistant", "demo", "end_turn", null],
"the end of a turn");
is(plain.content.length, 1, "without thinking: one block");
ok(/^msg_/.test(plain.id), "its id");
is(text.events[0].message.usage.input_tokens
  + text.events[0].message.usage.cache_read_input_tokens,
prompt(plain.usage), "a stream begins with the prompt's count");
ok(text.headers.get("content-type").startsWith("text/event-stream"),
  "and says that it is one");
for (const [name, messages] of Object.entries({
  "text blocks": [user([{ type: "text", text: france[0].content }])],
  "blocks that follow each other": [user([
    { type: "text", text: "What is the capital" },
    { type: "text", text: " of France?", cache_control: { type: "ephemeral" } },
  ])] }))
  is(gist(await whole({ ...quick, messages }, name)), gist(plain),
    `${name} are the same question`);
const who = [user("What is your name?")];
const named = await everyWay({ ...quick, messages: who,
  system: "Your name is Zoe." }, "system");
ok(/Zoe/.test(said(named.message)), "system is followed");
is(gist(await whole({ ...quick, messages: who, system: [
  { type: "text", text: "Your name is Zoe." }] }, "system blocks")),
gist(named.message), "and so are its blocks");
ok(/Anna/.test(said(await whole({ ...quick, messages: [
  user("My name is Anna."), { role: "assistant", content: [
    { type: "text", text: "Nice to meet you, Anna!" }] },
  user("What is my name?")] }, "turns"))), "an earlier turn is known");

// --- thinking --------------------------------------------------------------
const deep = { temperature: 0, max_tokens: 1500,
  thinking: { type: "enabled", budget_tokens: 1024 } };
const mind = await everyWay({ ...deep, messages: france }, "thinking");
is(mind.message.content.map((b) => b.type), ["thinking", "text"],
  "thinking is a block before the text");
const [thought] = mind.message.content;
ok(thought.thinking.length > 0 && /^pen1\./.test(thought.signature),
  "with its text and a signature");
ok(!/think>/.test(thought.thinking + said(mind.message)),
  "without the model's tags");
const kinds = mind.events.filter((e) => e.index === 0).map(
  (e) => e.delta?.type ?? e.type);
is([kinds[0], kinds.at(-2), kinds.at(-1)], ["content_block_start",
  "signature_delta", "content_block_stop"], "the signature is its last delta");
is(gist(await whole({ ...deep, thinking: { type: "adaptive" },
  messages: france }, "adaptive")), gist(mind.message),
"adaptive thinks the same");
is(gist(await whole({ ...quick, thinking: { type: "disabled" } }, "disabled")),
  gist(plain), "disabled is as without the word");
const hidden = await everyWay({ ...deep, messages: france,
  thinking: { ...deep.thinking, display: "omitted" } }, "omitted");
const [veiled] = hidden.message.content;
is([veiled.type, veiled.thinking], ["thinking", ""],
  "omitted: a block without its text");
ok(veiled.signature.length > thought.signature.length,
  "omitted: the signature has it");
is(said(hidden.message), said(mind.message), "omitted: the same answer");
const budget = await whole({ ...deep, max_tokens: 4000, messages: france,
  thinking: { type: "enabled", budget_tokens: 2000 } }, "large budget");
is(gist(budget), gist(mind.message),
  "a budget that is not reached does nothing");

// --- tools -----------------------------------------------------------------
function tool(name, description, properties, more) {
  return { name, description, input_schema: { type: "object", properties,
    required: Object.keys(properties), additionalProperties: false }, ...more };
}
const weather = tool("get_weather", "Get the weather for a city",
  { city: { type: "string" } });
const timer = tool("set_timer", "Set a timer",
  { minutes: { type: "integer" } });
const tools = [weather, timer];
const rain = [user("What is the weather in Paris?")];
const sunny = '{"temperature": 21, "condition": "sunny"}';
const result = (m, content = sunny) => user([{ type: "tool_result",
  tool_use_id: uses(m)[0].id, content }]);
const asked = await everyWay({ temperature: 0, tools, messages: rain }, "call");
is(uses(asked.message).map((b) => [b.name, b.input]),
  [["get_weather", { city: "Paris" }]], "the right call, with its input");
is([asked.message.stop_reason, asked.message.content.length], ["tool_use", 1],
  "stop_reason tool_use, and nothing beside it");
const reply = { role: "assistant", content: asked.message.content };
const answer = await everyWay({ temperature: 0, tools, messages: [...rain,
  reply, result(asked.message)] }, "round trip");
ok(/sunny in Paris/.test(said(answer.message)), "the result becomes words");
is(answer.message.stop_reason, "end_turn", "and ends the turn");
is(gist(await whole({ temperature: 0, tools, messages: [...rain, reply,
  result(asked.message, [{ type: "text", text: sunny }])] }, "result blocks")),
gist(answer.message), "a result in blocks is the same");

const both = await everyWay({ ...deep, tools, messages: rain },
  "thought and call");
is(both.message.content.map((b) => b.type), ["thinking", "tool_use"],
  "thinking, then the call");
const [first, call] = both.message.content;
const veil = (await whole({ ...deep, tools, messages: rain,
  thinking: { ...deep.thinking, display: "omitted" } }, "veiled call"))
  .content[0];
const back = (...content) => ({ model: "demo", tools,
  thinking: deep.thinking, messages: [...rain,
    { role: "assistant", content: [...content, call] },
    result(both.message)] });
const full = (await ai.messages.countTokens(back(first))).input_tokens;
for (const [name, blocks, same] of [
  ["a thought that was omitted, by its signature", [veil], true],
  ["a thought with another signature", [{ ...first, signature: "x" }], true],
  ["a foreign signature alone", [{ ...veil, signature: "x" }], false],
  ["a redacted thought", [{ type: "redacted_thinking", data: "x" }], false],
  ["no thought", [], false]])
  is((await ai.messages.countTokens(back(...blocks))).input_tokens === full,
    same, `${name}: ${same ? "the same prompt" : "a shorter prompt"}`);
ok(/sunny in Paris/.test(said(await whole({ ...back(veil), ...deep },
  "veiled thought"))), "a thought that was omitted is taken back");

is(uses(await whole({ temperature: 0, tools, messages: rain,
  tool_choice: { type: "none" } }, "none")), [], "tool_choice none: no call");
const pair = [user("What is the weather in Rome and Oslo?")];
for (const [tool_choice, names, messages] of [
  [{ type: "any" }, ["get_weather", "set_timer"], france],
  [{ type: "tool", name: "set_timer" }, ["set_timer"], france],
  [{ type: "any", disable_parallel_tool_use: true },
    ["get_weather", "set_timer"], pair],
  [{ type: "auto", disable_parallel_tool_use: true },
    ["get_weather", "set_timer"], pair]]) {
  const name = `tool_choice ${Object.values(tool_choice).join(" ")}`;
  const { message } = await everyWay({ temperature: 0, tools, tool_choice,
    messages, max_tokens: 300 }, name);
  const list = uses(message);
  ok(list.every((c) => names.includes(c.name)), `${name}: only those`);
  if (tool_choice.disable_parallel_tool_use)
    ok(list.length <= 1, `${name}: not two at once`);
  if (tool_choice.type === "auto" || message.stop_reason === "max_tokens")
    continue;
  ok(list.length > 0 && said(message) === "", `${name}: a call, and no text`);
  is(message.stop_reason, "tool_use", `${name}: tool_use`);
}

// --- tools that nobody can serve here --------------------------------------
const foreign = [{ type: "web_search_20250305", name: "web_search" }, weather,
  { type: "bash_20250124", name: "bash" }];
const skip = { temperature: 0, tools: foreign, messages: rain };
const some = await whole(skip, "skipped");
const list = ["web_search_20250305", "bash_20250124"];
is(some.skipped_tools, list, "skipped_tools lists their types");
is(wire.last().headers.get("x-skipped-tools"), list.join(", "),
  "and so does the header");
is(uses(some).map((c) => c.name), ["get_weather"], "the others work");
is((await streamed(skip, "skipped, streamed")).headers.get("x-skipped-tools"),
  list.join(", "), "a stream's header says the same");

// --- forms -----------------------------------------------------------------
const City = z.object({ name: z.enum(["Paris", "Rome", "Łódź"]),
  sure: z.boolean() });
for (const [name, more] of [["form", quick],
  ["form behind thinking", { ...deep, messages: france }]]) {
  const ask = { model: "demo", ...more, max_tokens: 1700,
    output_config: { format: zodOutputFormat(City) } };
  const p = await ai.messages.parse(ask);
  is(p.stop_reason, "end_turn", `${name}: it came to its end`);
  ok(City.safeParse(p.parsed_output).success,
    `${name}: ${JSON.stringify(p.parsed_output)} fits`);
  is((await accumulated(ask, name)).parsed_output, p.parsed_output,
    `${name}: streamed, too`);
}
const Five = { minutes: { type: "integer", enum: [5, 10] } };
const strict = await whole({ temperature: 0, max_tokens: 300,
  messages: [user("Set a timer for 18 minutes.")],
  tools: [tool("set_timer", "Set a timer", Five, { strict: true })] },
"strict");
ok([5, 10].includes(uses(strict)[0].input.minutes),
  "a strict tool's input fits its schema");

// --- limits ----------------------------------------------------------------
const cut = await everyWay({ ...quick, max_tokens: 3 }, "limit");
is(cut.message.stop_reason, "max_tokens", "a limit is told as such");
is(cut.message.usage.output_tokens, 3, "and is kept");
ok(said(plain).startsWith(said(cut.message)), "it is the answer's beginning");
const stops = ["no such text", " of France"];
const before = await everyWay({ ...quick, stop_sequences: stops }, "stop");
is([before.message.stop_reason, before.message.stop_sequence],
  ["stop_sequence", " of France"], "a stop sequence is told of by name");
is(said(before.message), said(plain).split(" of France")[0],
  "and what stands before it is the answer");

// --- counting --------------------------------------------------------------
for (const [name, body] of Object.entries({ text: { messages: france },
  system: { messages: who, system: "Your name is Zoe." },
  tools: { messages: rain, tools },
  thinking: { messages: france, thinking: deep.thinking } })) {
  const n = await ai.messages.countTokens({ model: "demo", ...body });
  types.tokens(JSON.parse(wire.last().text), `count ${name}`);
  is(n.input_tokens, prompt((await whole({ ...body, max_tokens: 1100 },
    `counted ${name}`)).usage), `countTokens, ${name}: what the answer says`);
}

// --- keys and models -------------------------------------------------------
const page = await ai.models.list();
is(page.data.map((m) => m.id), ["demo"], "models.list names the model");
types.models(JSON.parse(wire.last().text), "models");
is((await ai.models.retrieve("demo")).id, "demo", "models.retrieve works");
types.claim("ModelInfo", JSON.parse(wire.last().text), "model");
const key = process.env.PEN_KEY;
for (const [name, headers] of Object.entries({
  "x-api-key": { "x-api-key": key },
  "Bearer": { authorization: `Bearer ${key}` },
  "both": { "x-api-key": key, authorization: `Bearer ${key}` } })) {
  const r = await siteFetch(`${url}/v1/messages`, { method: "POST",
    headers: { ...headers, "content-type": "application/json",
      "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model: "demo", max_tokens: 400, ...quick }) });
  is([r.status, said(await r.json())], [200, said(plain)], `${name} lets in`);
}
is(said(await anthropic({ apiKey: null, authToken: key }).messages.create(
  { model: "demo", max_tokens: 400, ...quick })), said(plain),
"authToken lets in");

// --- errors ----------------------------------------------------------------
const { AuthenticationError, BadRequestError, NotFoundError } = Anthropic;
async function refused(params, type, word, field, name, from = ai) {
  for (const stream of [false, true]) {
    const e = await refusal(from.messages.create({ model: "demo",
      max_tokens: 400, ...quick, ...params, stream }));
    ok(e instanceof type, `${name}: ${type.name}, got ${e.constructor?.name}`);
    const { headers, text: body } = wire.last();
    types.error(JSON.parse(body), name);
    is([e.type, e.requestID, e.error?.request_id], [word,
      headers.get("request-id"), headers.get("request-id")],
    `${name}: its type and request id`);
    ok(e.requestID, `${name}: which there is`);
    ok(e.apiMessage?.includes(field), `${name}: names it: ${e.apiMessage}`);
  }
}
const [bad, none] = ["invalid_request_error", "not_found_error"];
await refused({ model: "nothing" }, NotFoundError, none, "model",
  "unknown model");
await refused({ messages: [] }, BadRequestError, bad, "messages",
  "no messages");
await refused({ max_tokens: undefined }, BadRequestError, bad, "max_tokens",
  "no max_tokens");
await refused({ max_tokens: 0 }, BadRequestError, bad, "max_tokens",
  "max_tokens 0");
await refused({ temperature: 1.5 }, BadRequestError, bad, "temperature",
  "too hot");
await refused({ messages: [...france, { role: "assistant", content: "The" }] },
  BadRequestError, bad, "messages", "an answer to be continued");
await refused({ messages: [user([{ type: "text", text: "What is this?" },
  { type: "riddle" }])] }, BadRequestError, bad, "messages[0].content[1].type",
"unknown block");
await refused({ messages: [user([{ type: "image", source: { type: "base64",
  media_type: "image/png", data: "AAAA" } }])] }, BadRequestError, bad,
"messages[0].content[0].type", "an image");
await refused({ tools: foreign, tool_choice: { type: "tool", name: "bash" } },
  BadRequestError, bad, "tool_choice", "a tool that is skipped");
await refused({ messages: [user("word ".repeat(20000))] }, BadRequestError, bad,
  "context", "a prompt over the context");
await refused({}, AuthenticationError, "authentication_error", "key",
  "a wrong key", anthropic({ apiKey: "pk-wrong" }));
const lost = await refusal(ai.post("/v1/messages/nothing", { body: {} }));
ok(lost instanceof NotFoundError, "an unknown route is NotFoundError");

// --- streams that are left -------------------------------------------------
const long = { model: "demo", max_tokens: 3000, ...quick,
  output_config: { format: { type: "json_schema", schema: endlessForm } } };
let deltas = 0;
for await (const e of await ai.messages.create({ ...long, stream: true })) {
  if (e.type === "content_block_delta" && ++deltas === 5) break;
}
is(deltas, 5, "a stream is left in its middle");
const running = async (n) => await until(async () =>
  (await get("/health")).json.running === n, 60000);
ok(await running(0), "and stops");
const stop = new AbortController();
const silent = refusal(ai.messages.create(long, { signal: stop.signal }));
ok(await running(1), "a whole answer is being made");
stop.abort();
ok(await silent instanceof Anthropic.APIUserAbortError, "and left");
judged();
done();
