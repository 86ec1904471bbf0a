// M: /messages, Anthropic's shape: the message, its blocks, events, errors.
import { is, ok, oneOf, rule, served, skip } from "./rules.mjs";
import { CAPITAL, named } from "./site.mjs";

const tool = { name: "set_timer", description: "Set a timer",
  input_schema: { type: "object",
    properties: { minutes: { type: "integer" } }, required: ["minutes"] } };
const timer = "Set a timer for 18 minutes.";
const headers = { "anthropic-version": "2023-06-01" };

const body = (s, extra, content = CAPITAL) => ({ model: s.model,
  temperature: 0, max_tokens: 512, messages: [{ role: "user", content }],
  ...extra });
const ask = (s, extra, content) => s.post("/messages",
  body(s, extra, content), { headers });
const stream = async (s, extra, content) =>
  named(await ask(s, { ...extra, stream: true }, content));
const message = (r) => {
  is(r.status, 200, `status (${r.text.slice(0, 300)})`);
  is(r.json.type, "message", "type");
  return r.json;
};
const plain = (s) => s.once("message", () => ask(s, {}));
const plainStream = (s) => s.once("message events", () => stream(s, {}));
const size = (m) => m.usage.input_tokens + m.usage.cache_read_input_tokens;
const uses = (m) => m.content.filter((b) => b.type === "tool_use");
const told = (m) => m.content.map((b) =>
  [b.type, b.text ?? b.thinking ?? b.name, b.input ?? null]);

function isRefused(r, status, type) {
  is(r.status, status, `status (${r.text.slice(0, 200)})`);
  is(r.json?.type, "error", "type");
  is(r.json.error?.type, type, "error.type");
  ok(typeof r.json.error.message === "string" && r.json.error.message,
    "message");
  return r.json.error;
}

// The message that events add up to, by the reference's rules.
function joined({ events }) {
  let m = null;
  let open = null;
  let json = "";
  for (const { name, data } of events) {
    is(name, data.type, "name");
    if (name === "message_start") m = structuredClone(data.message);
    else if (name === "content_block_start") {
      is([open, data.index], [null, m.content.length], "start");
      open = structuredClone(data.content_block);
      m.content.push(open);
      json = "";
    } else if (name === "content_block_delta") {
      is(data.index, m.content.length - 1, "index of a delta");
      const { delta } = data;
      if (delta.type === "input_json_delta") json += delta.partial_json;
      else {
        const key = delta.type.replace("_delta", "");
        open[key] += delta[key];
      }
    } else if (name === "content_block_stop") {
      if (open.type === "tool_use" && json) open.input = JSON.parse(json);
      open = null;
    } else if (name === "message_delta") {
      Object.assign(m, data.delta);
      Object.assign(m.usage, data.usage);
    }
  }
  return m;
}

rule("M01", "a message has its members", async (s) => {
  const m = message(await plain(s));
  ok(/^msg_/.test(m.id), "id");
  is([m.role, m.stop_reason, m.stop_sequence], ["assistant", "end_turn", null],
    "role, stop_reason, stop_sequence");
  is(typeof m.model, "string", "model");
});
rule("M02", "its last block is the text", async (s) => {
  const b = message(await plain(s)).content.at(-1);
  is(b.type, "text", "type");
  ok(/^\S/.test(b.text), "text");
});
rule("M03", "usage has its four numbers", async (s) => {
  const u = message(await plain(s)).usage;
  for (const key of ["input_tokens", "output_tokens",
    "cache_read_input_tokens", "cache_creation_input_tokens"])
    ok(Number.isInteger(u[key]) && u[key] >= 0, `${key} is ${u[key]}`);
  ok(u.output_tokens > 0, "output_tokens");
});
rule("M04", "a text block is the same prompt as the string", async (s) => {
  const m = message(await ask(s, { max_tokens: 2 },
    [{ type: "text", text: CAPITAL, cache_control: { type: "ephemeral" } }]));
  is(size(m), size(message(await plain(s))), "prompt");
});
rule("M05", "system is read, as a string and as blocks", async (s) => {
  const text = "You are a pirate. ".repeat(10);
  const read = async (system) =>
    size(message(await ask(s, { system, max_tokens: 2 })));
  const n = await read(text);
  is(await read([{ type: "text", text }]), n, "prompts");
  ok(n > size(message(await plain(s))) + 10, "not in the prompt");
});
rule("M06", "max_tokens ends it", async (s) => {
  const m = message(await ask(s, { max_tokens: 2 }));
  is(m.stop_reason, "max_tokens", "stop_reason");
  is(m.usage.output_tokens, 2, "output_tokens");
});
rule("M07", "a stop sequence ends it, and is named", async (s) => {
  const text = message(await plain(s)).content.at(-1).text;
  const word = text.split(/\s+/)[2];
  if (!word) skip("a short answer");
  const m = message(await ask(s, { stop_sequences: ["qqq", word] }));
  is([m.stop_reason, m.stop_sequence], ["stop_sequence", word], "stop");
  ok(!m.content.some((b) => b.text?.includes(word)), "it is in the text");
});
rule("M08", "without max_tokens it is 400", async (s) =>
  ok(/max_tokens/.test(isRefused(await ask(s, { max_tokens: undefined }), 400,
    "invalid_request_error").message), "not named"));
rule("M09", "messages of no role are 400", async (s) =>
  isRefused(await ask(s, { messages: [{ role: "no", content: "Hi" }] }), 400,
    "invalid_request_error"));
rule("M10", "a model that is not there is 404", async (s) =>
  isRefused(await ask(s, { model: "no-such-model-here" }), 404,
    "not_found_error"));
rule("M11", "x-api-key is a key, a wrong one is 401", async (s) => {
  if (!s.key) skip("no key was given");
  const by = (key) => s.post("/messages", body(s, { max_tokens: 2 }),
    { key: null, headers: { ...headers, "x-api-key": key } });
  message(await by(s.key));
  isRefused(await by("sk-not-a-key"), 401, "authentication_error");
});
rule("M12", "every answer has a request-id", async (s) => {
  for (const r of [await plain(s), await ask(s, { max_tokens: -1 })])
    ok(r.headers.get("request-id"), `${r.status}: none`);
});
rule("M13", "an answer can be sent back", async (s) => {
  const first = message(await plain(s));
  const m = message(await ask(s, { max_tokens: 2, messages: [
    { role: "user", content: CAPITAL },
    { role: "assistant", content: first.content },
    { role: "user", content: "And of Italy?" }] }));
  ok(size(m) > size(first), "not in the prompt");
});

rule("M20", "a call is a tool_use block with its input", async (s) => {
  const m = message(await ask(s, { tools: [tool] }, timer));
  if (!uses(m).length) skip("the model makes no call");
  is(m.stop_reason, "tool_use", "stop_reason");
  for (const b of uses(m)) {
    ok(b.id && b.input instanceof Object, "block");
    is(b.name, "set_timer", "name");
  }
});
rule("M21", "it is taken back, with the results", async (s) => {
  const first = message(await ask(s, { tools: [tool] }, timer));
  if (!uses(first).length) skip("the model makes no call");
  const m = message(await ask(s, { tools: [tool], messages: [
    { role: "user", content: timer },
    { role: "assistant", content: first.content },
    { role: "user", content: uses(first).map((b) => ({ type: "tool_result",
      tool_use_id: b.id, content: "ok" })) }] }));
  ok(size(m) > size(first), "not in the prompt");
});
rule("M22", "tool_choice none makes no call, any makes one", async (s) => {
  is(uses(message(await ask(s, { tools: [tool], tool_choice:
    { type: "none" } }, timer))), [], "none");
  const m = message(await ask(s, { tools: [tool], tool_choice:
    { type: "any" } }));
  if (m.stop_reason !== "max_tokens")
    is(m.stop_reason, "tool_use", "any: stop_reason");
});
rule("M23", "thinking can be switched on and off", async (s) => {
  const off = message(await ask(s, { thinking: { type: "disabled" } }));
  ok(!off.content.some((b) => b.type === "thinking"), "off: a thought");
  const on = message(await ask(s, { max_tokens: 2048,
    thinking: { type: "enabled", budget_tokens: 1024 } }));
  for (const b of on.content.filter((c) => c.type === "thinking"))
    ok(typeof b.thinking === "string" && typeof b.signature === "string",
      "a thought without text or signature");
});
rule("M24", "a typed tool of the vendor is no error", async (s) =>
  message(await ask(s, { max_tokens: 2, tools: [tool,
    { type: "web_search_20250305", name: "web_search" }] })));

rule("M30", "a stream's events are in order and add up", async (s) => {
  const r = await plainStream(s);
  is(r.status, 200, "status");
  ok(/^text\/event-stream/.test(r.type), r.type);
  const names = r.events.map((e) => e.name).filter((n) => n !== "ping");
  is(names[0], "message_start", "first");
  is(names.slice(-2), ["message_delta", "message_stop"], "last");
  is(told(joined(r)), told(message(await plain(s))), "content");
});
rule("M31", "the start has no content and no stop_reason", async (s) => {
  const m = (await plainStream(s)).events[0].data.message;
  is([m.content, m.stop_reason, m.stop_sequence], [[], null, null], "start");
  ok(m.usage.input_tokens >= 0, "usage");
});
rule("M32", "the end has stop_reason and output_tokens", async (s) => {
  const want = message(await plain(s));
  const m = joined(await plainStream(s));
  is([m.stop_reason, m.stop_sequence, m.usage.output_tokens, size(m)],
    [want.stop_reason, null, want.usage.output_tokens, size(want)], "end");
});
rule("M33", "a streamed call is the same call", async (s) => {
  const want = message(await ask(s, { tools: [tool] }, timer));
  if (!uses(want).length) skip("the model makes no call");
  const m = joined(await stream(s, { tools: [tool] }, timer));
  is(told(m), told(want), "content");
  is(m.stop_reason, "tool_use", "stop_reason");
});
rule("M34", "what is refused in a stream is no stream", async (s) => {
  const r = await ask(s, { stream: true, max_tokens: -1 });
  isRefused(r, 400, "invalid_request_error");
  ok(!/data:/.test(r.text), "an event");
});

rule("M40", "count_tokens counts what a message would use", async (s) => {
  const { messages, model } = body(s, {});
  const r = await s.post("/messages/count_tokens", { messages, model },
    { headers });
  is(r.status, 200, `status (${r.text.slice(0, 200)})`);
  is(r.json.input_tokens, size(message(await plain(s))), "input_tokens");
});
rule("M41", "tools count", async (s) => {
  const count = async (extra) => (await s.post("/messages/count_tokens",
    { ...body(s, extra), max_tokens: undefined }, { headers })).json
    .input_tokens;
  ok(await count({ tools: [tool] }) > await count({}), "they do not");
});
rule("M42", "GET /models with anthropic-version has Anthropic's shape",
  async (s) => {
    const j = (await s.get("/models", { headers })).json;
    ok(Array.isArray(j.data) && j.data.length, "none");
    for (const m of j.data) {
      is(m.type, "model", "type");
      ok(m.id && m.display_name && m.created_at, "a key is missing");
    }
    oneOf(j.has_more, [true, false], "has_more");
  });
