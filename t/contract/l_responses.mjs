// L: /responses: the object, its items, its events, its errors.
import { is, isError, ok, oneOf, refuses, rule, served, skip, within }
  from "./rules.mjs";
import { CAPITAL, named } from "./site.mjs";

const tool = { type: "function", name: "set_timer", description: "Set a timer",
  strict: false, parameters: { type: "object",
    properties: { minutes: { type: "integer" } }, required: ["minutes"] } };
const timer = "Set a timer for 18 minutes.";

const respond = (s, extra, input = CAPITAL) => s.post("/responses",
  { model: s.model, temperature: 0, max_output_tokens: 512, input,
    store: false, ...extra });
const stream = async (s, extra, input) =>
  named(await respond(s, { ...extra, stream: true }, input));
const plain = (s) => s.once("response", () => respond(s, {}));
const plainStream = (s) => s.once("response events", () => stream(s, {}));
const texts = (j) => j.output.filter((i) => i.type === "message")
  .flatMap((i) => i.content.map((c) => c.text)).join("");
const calls = (j) => j.output.filter((i) => i.type === "function_call");
const told = (items) => items.map(({ type, name, arguments: a, content }) =>
  ({ type, name, a, texts: content?.map((c) => c.text) }));

rule("L01", "a response has its members", async (s) => {
  const j = served(await plain(s));
  ok(/^resp_/.test(j.id), "id");
  is(j.object, "response", "object");
  is(j.status, "completed", "status");
  within(j.created_at, Date.now() / 1000 - 86400, Date.now() / 1000 + 86400,
    "created_at");
  is([j.error, j.incomplete_details, j.instructions], [null, null, null],
    "error, incomplete_details, instructions");
  is(typeof j.model, "string", "model");
  for (const key of ["output", "tools"])
    ok(Array.isArray(j[key]), `${key} is no list`);
  for (const key of ["parallel_tool_calls", "temperature", "tool_choice",
    "top_p", "metadata", "text"])
    ok(key in j, `no ${key}`);
});
rule("L02", "its last item is a message with output_text", async (s) => {
  const m = served(await plain(s)).output.at(-1);
  is([m.type, m.role, m.status], ["message", "assistant", "completed"],
    "message");
  ok(/^msg_/.test(m.id), "id");
  is(m.content.length, 1, "parts");
  const [c] = m.content;
  is([c.type, c.annotations], ["output_text", []], "part");
  ok(/\S/.test(c.text), "no text");
});
rule("L03", "items have distinct ids", async (s) => {
  const { output } = served(await plain(s));
  is(new Set(output.map((i) => i.id)).size, output.length, "ids");
});
rule("L04", "usage adds up and has its details", async (s) => {
  const u = served(await plain(s)).usage;
  is(u.input_tokens + u.output_tokens, u.total_tokens, "the sum");
  within(u.input_tokens_details?.cached_tokens, 0, u.input_tokens, "cached");
  within(u.output_tokens_details?.reasoning_tokens, 0, u.output_tokens,
    "reasoning");
});
rule("L05", "a message in a list is the same prompt as the string",
  async (s) => {
    const want = served(await plain(s)).usage.input_tokens;
    for (const content of [CAPITAL, [{ type: "input_text", text: CAPITAL }]])
      is(served(await respond(s, { max_output_tokens: 2 },
        [{ role: "user", content }])).usage.input_tokens, want, "prompt");
  });
rule("L06", "instructions are read, and told", async (s) => {
  const instructions = "You are a pirate. ".repeat(10);
  const j = served(await respond(s, { instructions, max_output_tokens: 2 }));
  is(j.instructions, instructions, "instructions");
  ok(j.usage.input_tokens > served(await plain(s)).usage.input_tokens + 10,
    "not in the prompt");
});
rule("L07", "max_output_tokens ends it: incomplete", async (s) => {
  const j = served(await respond(s, { max_output_tokens: 2 }));
  is(j.status, "incomplete", "status");
  is(j.incomplete_details, { reason: "max_output_tokens" }, "details");
  is(j.usage.output_tokens, 2, "output_tokens");
});
rule("L08", "metadata comes back", async (s) =>
  is(served(await respond(s, { metadata: { a: "b" }, max_output_tokens: 2 }))
    .metadata, { a: "b" }, "metadata"));
rule("L09", "without input it is 400", async (s) =>
  refuses(await respond(s, { input: undefined }), "input"));
rule("L10", "an item of a type that is none is 400", async (s) => {
  const e = refuses(await respond(s, {}, [{ type: "no_such_item" }]), "input");
  ok(/^input\[0\]/.test(e.param), e.param);
});
rule("L11", "previous_response_id of none is an error that names it",
  async (s) => {
    const e = isError(await respond(s, { previous_response_id:
      "resp_000000000000000000000000" }), 400);
    is(e.param, "previous_response_id", "param");
  });
rule("L12", "a response that is not stored is 404", async (s) => {
  const { id } = served(await respond(s, { max_output_tokens: 2 }));
  isError(await s.get(`/responses/${id}`), 404);
});

// --- tools --------------------------------------------------------------------
rule("L20", "a call has id, call_id, name and JSON arguments", async (s) => {
  const j = served(await respond(s, { tools: [tool] }, timer));
  if (!calls(j).length) skip("the model makes no call");
  for (const c of calls(j)) {
    ok(/^fc_/.test(c.id) && c.call_id, "ids");
    is([c.name, c.status], ["set_timer", "completed"], "call");
    ok(JSON.parse(c.arguments) instanceof Object, "arguments");
  }
  is(j.status, "completed", "status");
});
rule("L21", "what came is taken back, with the outputs", async (s) => {
  const first = served(await respond(s, { tools: [tool] }, timer));
  const input = [{ role: "user", content: timer }, ...first.output,
    ...calls(first).map((c) => ({ type: "function_call_output",
      call_id: c.call_id, output: "ok" }))];
  const j = served(await respond(s, { tools: [tool] }, input));
  ok(j.usage.input_tokens > first.usage.input_tokens, "not in the prompt");
});
rule("L22", "tool_choice none makes no call, required makes one",
  async (s) => {
    is(calls(served(await respond(s, { tools: [tool], tool_choice: "none" },
      timer))), [], "none");
    const j = served(await respond(s, { tools: [tool],
      tool_choice: "required" }));
    if (j.status === "completed") ok(calls(j).length, "required: no call");
  });
rule("L23", "outputs as text parts are the same prompt", async (s) => {
  const size = async (output) => served(await respond(s,
    { tools: [tool], max_output_tokens: 2 }, [{ role: "user", content: timer },
      { type: "function_call", call_id: "call_1", name: "set_timer",
        arguments: "{\"minutes\":18}" },
      { type: "function_call_output", call_id: "call_1", output }]))
    .usage.input_tokens;
  is(await size([{ type: "input_text", text: "ok" }]), await size("ok"),
    "prompt");
});
rule("L24", "text.format json_schema binds the answer", async (s) => {
  const schema = { type: "object", properties: { a: { enum: ["x", "y"] } },
    required: ["a"], additionalProperties: false };
  const j = served(await respond(s, { text: { format: { type: "json_schema",
    name: "n", schema, strict: true } } }));
  if (j.status !== "completed") skip("the answer was cut");
  oneOf(JSON.parse(texts(j)).a, ["x", "y"], "a");
});

// --- streams ------------------------------------------------------------------
rule("L30", "events have names, which are their types", async (s) => {
  const r = await plainStream(s);
  is(r.status, 200, `status (${r.text.slice(0, 200)})`);
  ok(/^text\/event-stream/.test(r.type), r.type);
  ok(r.events.length, "none");
  for (const e of r.events) is(e.name, e.data.type, "name");
});
rule("L31", "sequence numbers go from 0 without gaps", async (s) => {
  const { events } = await plainStream(s);
  is(events.map((e) => e.data.sequence_number), events.map((_, i) => i),
    "numbers");
});
rule("L32", "created, in_progress first; completed last, and no [DONE]",
  async (s) => {
    const { events, text } = await plainStream(s);
    is(events.slice(0, 2).map((e) => e.name),
      ["response.created", "response.in_progress"], "first");
    is(events.at(-1).name, "response.completed", "last");
    ok(!text.includes("[DONE]"), "[DONE]");
  });
rule("L33", "deltas add up to the items, items to the response", async (s) => {
  const { events } = await plainStream(s);
  const sum = new Map();
  const done = [];
  for (const { name, data } of events) {
    const key = data.item_id;
    if (/^response\.(output_text|reasoning_text)\.delta$/.test(name))
      sum.set(key, (sum.get(key) ?? "") + data.delta);
    else if (name === "response.output_text.done")
      is(data.text, sum.get(key), "text");
    else if (name === "response.output_item.done") done.push(data.item);
  }
  const end = events.at(-1).data.response;
  is(end.output, done, "items");
  for (const i of done)
    is(i.content.map((c) => c.text).join(""), sum.get(i.id) ?? "", i.type);
});
rule("L34", "the stream says what the plain answer says", async (s) =>
  is(told((await plainStream(s)).events.at(-1).data.response.output),
    told(served(await plain(s)).output), "output"));
rule("L35", "an item is added, grown and done before the next", async (s) => {
  let open = null;
  let next = 0;
  for (const { name, data } of (await plainStream(s)).events) {
    if (name === "response.output_item.added") {
      is([open, data.output_index], [null, next++], "added");
      open = data.item.id;
    } else if (name === "response.output_item.done") {
      is(data.item.id, open, "done");
      open = null;
    } else if (data.item_id) is(data.item_id, open, name);
  }
});
rule("L36", "a streamed call: the same call, in pieces", async (s) => {
  const want = calls(served(await respond(s, { tools: [tool] }, timer)));
  if (!want.length) skip("the model makes no call");
  const { events } = await stream(s, { tools: [tool] }, timer);
  const args = events.filter((e) => e.name
    === "response.function_call_arguments.delta").map((e) => e.data.delta);
  is(args.join(""), want.map((c) => c.arguments).join(""), "arguments");
  is(told(calls(events.at(-1).data.response)), told(want), "calls");
});
rule("L37", "a stream that is cut ends with response.incomplete",
  async (s) => {
    const { events } = await stream(s, { max_output_tokens: 2 });
    const { name, data } = events.at(-1);
    is(name, "response.incomplete", "last");
    is(data.response.incomplete_details, { reason: "max_output_tokens" },
      "details");
  });
rule("L38", "what is refused in a stream is no stream", async (s) => {
  const r = await respond(s, { stream: true, max_output_tokens: -1 });
  refuses(r, "max_output_tokens");
  ok(!/data:/.test(r.text), "an event");
});

// --- stored ones ----------------------------------------------------------------
// A short one that is stored; the rule is skipped where none is.
async function stored(s) {
  const j = served(await respond(s, { store: true, max_output_tokens: 8 }));
  const r = await s.get(`/responses/${j.id}`);
  if (r.status === 404) skip("nothing is stored here");
  return [j, served(r)];
}

rule("L40", "a stored response can be read: what was answered", async (s) => {
  const [j, got] = await stored(s);
  for (const key of ["id", "object", "created_at", "status", "model", "output",
    "usage"])
    is(got[key], j[key], key);
});
rule("L41", "its input items are listed", async (s) => {
  const [{ id }] = await stored(s);
  const j = served(await s.get(`/responses/${id}/input_items`));
  is([j.object, j.has_more, j.data.length], ["list", false, 1], "list");
  const [m] = j.data;
  is([m.type, m.role, m.content], ["message", "user",
    [{ type: "input_text", text: CAPITAL }]], "item");
  is([j.first_id, j.last_id], [m.id, m.id], "ids");
});
rule("L42", "a response goes on from a stored one", async (s) => {
  const [first] = await stored(s);
  const j = served(await respond(s, { previous_response_id: first.id,
    max_output_tokens: 2 }, "And of Italy?"));
  is(j.previous_response_id, first.id, "previous_response_id");
  ok(j.usage.input_tokens > first.usage.input_tokens + 5, "not in the prompt");
});
rule("L43", "DELETE forgets it", async (s) => {
  const [{ id }] = await stored(s);
  const j = served(await s.send("DELETE", `/responses/${id}`));
  is([j.id, j.deleted], [id, true], "answer");
  isError(await s.get(`/responses/${id}`), 404);
  isError(await s.send("DELETE", `/responses/${id}`), 404);
  const e = isError(await respond(s, { previous_response_id: id }), 400);
  is(e.param, "previous_response_id", "param");
});
rule("L44", "instructions are not carried on", async (s) => {
  const instructions = "You are a pirate. ".repeat(50);
  const long = served(await respond(s, { store: true, instructions,
    max_output_tokens: 2 }));
  if ((await s.get(`/responses/${long.id}`)).status === 404)
    skip("nothing is stored here");
  const j = served(await respond(s, { previous_response_id: long.id,
    max_output_tokens: 2 }, "And of Italy?"));
  is(j.instructions, null, "instructions");
  ok(j.usage.input_tokens < long.usage.input_tokens, "in the prompt");
});
rule("L45", "input_tokens counts what a response would use", async (s) => {
  const r = await s.post("/responses/input_tokens",
    { model: s.model, input: CAPITAL });
  is(r.status, 200, `status (${r.text.slice(0, 200)})`);
  is([r.json.object, r.json.input_tokens], ["response.input_tokens",
    served(await plain(s)).usage.input_tokens], "count");
});
