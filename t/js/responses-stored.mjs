// Responses that are stored, with the official package: previous_response_id,
// retrieve, delete, cancel, input items. PEN_KEY2 is another key, that sees
// nothing of the first one's.
import OpenAI from "openai";
import { ai, calls, gist, judged, said, streamed, thought, types, whole, wire }
  from "./lib/responses.mjs";
import { client, done, endlessForm, is, ok, refusal } from "./lib/tap.mjs";

const other = client(process.env.PEN_KEY2);
const quick = { temperature: 0, reasoning: { effort: "none" } };
const { BadRequestError, NotFoundError } = OpenAI;
const nowhere = `resp_${"0".repeat(24)}`;

async function raw(promise) {
  await promise;
  return JSON.parse(wire.last().text);
}

async function missing(promise, name) {
  const e = await refusal(promise);
  ok(e instanceof NotFoundError, `${name}: NotFoundError`);
  return e.message;
}

// --- one that is stored ----------------------------------------------------
const one = await whole({ ...quick, input: "My name is Anna.",
  instructions: "You are a helpful assistant." }, "stored");
is(one.store ?? true, true, "without a word about store it is stored");
const kept = await raw(ai.responses.retrieve(one.id));
types.response(kept, "retrieved");
is(kept, one, "retrieve answers with the very object");
const live = await streamed({ ...quick, input: "My name is Ben." }, "streamed");
is(await raw(ai.responses.retrieve(live.response.id)), live.response,
  "of a stream, with that of its last event");
const list = await raw(ai.responses.inputItems.list(one.id));
types.items(list, "input items");
is(list.data.map((i) => [i.type, i.role, i.content[0].text]),
  [["message", "user", "My name is Anna."]],
  "inputItems.list has the question");
is([list.first_id, list.last_id, list.has_more],
  [list.data[0].id, list.data[0].id, false], "with its ends");
is(await raw(ai.responses.cancel(one.id)), one,
  "cancel of one that is over answers with it");

// A replay is no stream here: it is refused, so that nobody waits for events.
const replay = await refusal(ai.responses.stream(
  { response_id: one.id }).finalResponse());
ok(replay instanceof BadRequestError, `a replay is refused: ${replay.message}`);

// --- chains ----------------------------------------------------------------
const two = await whole({ ...quick, previous_response_id: one.id,
  input: "What is my name?" }, "chained");
ok(/Anna/.test(said(two)), "the earlier turn is known");
is(two.previous_response_id, one.id, "the answer names it");
is(two.instructions, null, "its instructions are not carried over");
const apart = await whole({ ...quick, store: false, input: [
  { role: "user", content: "My name is Anna." }, ...one.output,
  { role: "user", content: "What is my name?" }] }, "as items");
is(gist(two), gist(apart), "as if all its items had been sent");
const three = await whole({ ...quick, previous_response_id: two.id,
  input: "Tell me my name." }, "chained twice");
ok(/Anna/.test(said(three)), "over two steps, too");
const items = await raw(ai.responses.inputItems.list(three.id,
  { order: "asc", limit: 100 }));
types.items(items, "input items of a chain");
ok(items.data.some((i) => i.content?.[0].text === "Tell me my name."),
  "its input items have the last question");
is((await ai.responses.inputTokens.count({ model: "demo",
  reasoning: { effort: "none" }, previous_response_id: two.id,
  input: "Tell me my name." })).input_tokens, three.usage.input_tokens,
"inputTokens.count follows the chain");
const fork = await streamed({ ...quick, previous_response_id: one.id,
  input: "What is my name?" }, "fork");
is(gist(fork.response).output, gist(two).output, "a chain may fork, streamed");

// --- tools in a chain ------------------------------------------------------
const tools = [{ type: "function", name: "get_weather", strict: false,
  description: "Get the weather for a city", parameters: { type: "object",
    properties: { city: { type: "string" } }, required: ["city"],
    additionalProperties: false } }];
for (const [name, base] of Object.entries({ "without thinking": quick,
  "with thinking": { temperature: 0, reasoning: { effort: "high" } } })) {
  const rain = { role: "user", content: "What is the weather in Paris?" };
  const ask = await whole({ ...base, tools, input: [rain] }, `call ${name}`);
  const [call] = calls(ask);
  is(JSON.parse(call.arguments), { city: "Paris" }, `${name}: it is called`);
  const result = { type: "function_call_output", call_id: call.call_id,
    output: '{"temperature": 21, "condition": "sunny"}' };
  const next = await whole({ ...base, tools, previous_response_id: ask.id,
    input: [result] }, `result ${name}`);
  ok(/sunny in Paris/.test(said(next)), `${name}: a result alone is enough`);
  is(gist(next), gist(await whole({ ...base, tools, store: false,
    input: [rain, ...ask.output, result] }, `items ${name}`)),
  `${name}: as if all its items had been sent`);
  const byName = await whole({ ...base, tools, store: false, input: [rain,
    ...ask.output.map(({ id }) => ({ type: "item_reference", id })), result] },
  `references ${name}`);
  is(gist(byName), gist(next), `${name}: or named by their ids`);
  is(thought(ask) !== "", base !== quick, `${name}: as its name says`);
}

// --- what is not there -----------------------------------------------------
const unstored = await whole({ ...quick, store: false, input: "Hello!" },
  "store false");
is(unstored.store ?? false, false, "store false says so");
const texts = new Set(), refusals = new Set();
const norm = (m, id) => m.replaceAll(id, "ID");
for (const [name, from, id] of [["unknown", ai, nowhere],
  ["not stored", ai, unstored.id], ["another key's", other, one.id]]) {
  const { responses } = from;
  texts.add(norm(await missing(responses.retrieve(id),
    `retrieve, ${name}`), id));
  await missing(responses.delete(id), `delete, ${name}`);
  await missing(responses.cancel(id), `cancel, ${name}`);
  await missing(responses.inputItems.list(id), `input items, ${name}`);
  const e = await refusal(responses.create({ model: "demo", ...quick,
    previous_response_id: id, input: "Hello!" }));
  const field = "previous_response_id";
  ok(e instanceof BadRequestError, `${field}, ${name}: BadRequestError`);
  is(e.param, field, `${field}, ${name}: named`);
  refusals.add(norm(e.message, id));
}
is([texts.size, refusals.size], [1, 1], "nobody can tell these apart");

await ai.responses.delete(three.id);
await missing(ai.responses.retrieve(three.id), "deleted");
await missing(ai.responses.delete(three.id), "deleted again");
is((await ai.responses.retrieve(two.id)).id, two.id,
  "what it continued is still there");

// --- cancel of one that runs -----------------------------------------------
let id = null, last = null;
for await (const e of await ai.responses.create({ model: "demo", ...quick,
  input: "Hello!", max_output_tokens: 3000, stream: true, text: { format: {
    type: "json_schema", name: "long", schema: endlessForm } } })) {
  last = e;
  if (id || !e.type.endsWith(".delta")) continue;
  id = e.item_id.replace(/^[a-z]+_(.{24}).*/, "resp_$1");
  const running = await client().responses.retrieve(id);
  is([running.id, running.status], [id, "in_progress"],
    "one that runs can be retrieved");
  is((await client().responses.cancel(id)).status, "cancelled",
    "and cancelled");
  await missing(other.responses.cancel(id), "but not by another key");
}
is([last.type, last.response.status], ["response.incomplete", "cancelled"],
  "its stream ends, and says so");
types.stream([last], "cancelled");
is((await ai.responses.retrieve(id)).status, "cancelled",
  "and that is what is stored");
judged();
done();
