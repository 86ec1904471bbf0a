// One request to /v1/messages with the official package, and everything that
// is true of every answer checked: the bytes that came, the order of events,
// the package's declared types (told of by judged(), at the end).
import Anthropic from "@anthropic-ai/sdk";
import { anthropicTypes } from "./declared.mjs";
import { messagesOrder } from "./order.mjs";
import { recorder, records } from "./sse.mjs";
import { diag, fetchOptions, is, ok, same, url } from "./tap.mjs";

export const types = anthropicTypes();
export const wire = recorder();

export function anthropic(more = {}) {
  return new Anthropic({ baseURL: url, apiKey: process.env.PEN_KEY,
    maxRetries: 0, fetch: wire.fetch, fetchOptions, ...more });
}

export const ai = anthropic();
const base = { model: "demo", max_tokens: 400 };

// The JSON answer as it came over the wire.
export async function whole(params, name) {
  const m = await ai.messages.create({ ...base, ...params });
  const { text, headers } = wire.last();
  const raw = JSON.parse(text);
  types.message(raw, name);
  is({ ...m }, raw, `${name}: the package reads what was sent`);
  is(m._request_id, headers.get("request-id"), `${name}: and its request id`);
  ok(headers.get("request-id"), `${name}: which there is`);
  return raw;
}

// The stream: { events, message, headers }, the message as its events tell it.
export async function streamed(params, name, mayCut = false) {
  const events = [];
  for await (const e of await ai.messages.create(
    { ...base, ...params, stream: true })) events.push(e);
  const { text, headers } = wire.last();
  const raw = records(text);
  is(raw.faults, [], `${name}: records with a name and no [DONE]`);
  is(events, raw.events.filter((e) => e.type !== "ping"),
    `${name}: the package reads them all`);
  const order = messagesOrder(raw.events, mayCut);
  if (!ok(!order.faults.length, `${name}: every event in its order`))
    diag(order.faults.join("\n"));
  types.stream(events, name);
  return { ...order, events, headers };
}

// The stream by the package's own accumulator.
export async function accumulated(params, name) {
  const final = await ai.messages.stream({ ...base, ...params })
    .finalMessage();
  const { message, faults } = messagesOrder(
    records(wire.last().text).events);
  is(faults, [], `${name}: every event in its order`);
  same(final.content.map(plain), message.content, `${name}: finalMessage`);
  is([final.id, final.stop_reason, final.stop_sequence,
    final.usage.output_tokens], [message.id, message.stop_reason,
    message.stop_sequence, message.usage.output_tokens],
  `${name}: and its figures`);
  return final;
}

// Without what the package adds to what it parses; input is a getter there.
function plain({ parsed_output: _, ...block }) {
  return block;
}

export function said(message) {
  return message.content.filter((b) => b.type === "text").map((b) => b.text)
    .join("");
}

export function uses(message) {
  return message.content.filter((b) => b.type === "tool_use");
}

export function prompt(usage) {
  return usage.input_tokens + usage.cache_read_input_tokens
    + usage.cache_creation_input_tokens;
}

// What two answers to one request share: all but ids and the cache.
export function gist(message) {
  return { stop: [message.stop_reason, message.stop_sequence],
    tokens: [prompt(message.usage), message.usage.output_tokens],
    content: message.content.map((b) => ({ type: b.type, text: b.text,
      thinking: b.thinking, signature: b.signature, name: b.name,
      input: b.input })) };
}

// Whole, streamed and accumulated: one answer.
export async function everyWay(params, name) {
  const one = await whole(params, `${name}, whole`);
  const two = await streamed(params, `${name}, streamed`);
  is(gist(two.message), gist(one), `${name}: the stream tells the answer`);
  const three = await accumulated(params, `${name}, accumulated`);
  is(gist(three), gist(one), `${name}: and so does the package's helper`);
  return { ...two, message: one };
}

// Compiling takes seconds of processor time: of two runs that differ in HTTP
// alone, one is enough (PEN_UNTYPED).
export function judged() {
  if (process.env.PEN_UNTYPED === "1") return;
  const faults = types.faults();
  if (!ok(!faults.length, `${types.count} values have their declared types`))
    diag([...new Set(faults.map((f) => f.slice(0, 600)))].slice(0, 12)
      .join("\n"));
}

// An answer in no dialect's shape: its texts, calls with their JSON as it
// was written (which only a stream tells), and counts.
export async function messagesText(from, body, stream) {
  const json = [];
  let m;
  if (!stream) {
    m = await from.messages.create(body);
  } else {
    const s = from.messages.stream(body);
    for await (const e of s)
      if (e.delta?.type === "input_json_delta")
        json[e.index] = (json[e.index] ?? "") + e.delta.partial_json;
    m = await s.finalMessage();
  }
  return { text: said(m),
    thought: m.content.map((b) => b.thinking ?? "").join(""),
    calls: m.content.flatMap((b, i) => (b.type === "tool_use"
      ? [[b.name, json[i] ?? JSON.stringify(b.input)]] : [])),
    prompt: prompt(m.usage), tokens: m.usage.output_tokens };
}
