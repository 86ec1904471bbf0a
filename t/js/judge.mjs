// The judges of event streams are judged: written streams that are right are
// found right, and each way to break one is found.
import { anthropicTypes, openaiTypes } from "./lib/declared.mjs";
import { messagesOrder, responsesOrder } from "./lib/order.mjs";
import { records } from "./lib/sse.mjs";
import { diag, done, is, ok } from "./lib/tap.mjs";

// Without what two places share, unlike structuredClone.
const copy = (value) => JSON.parse(JSON.stringify(value));

// --- a stream of Responses -------------------------------------------------
const base = {
  id: "resp_1", access_programs: null, created_at: 1, error: null,
  incomplete_details: null, instructions: null, metadata: {}, model: "demo",
  object: "response", output: [], parallel_tool_calls: true, temperature: 1,
  tool_choice: "auto", tools: [], top_p: 1, status: "in_progress",
};
const think = { id: "rs_0", type: "reasoning", summary: [], status: "completed",
  content: [{ type: "reasoning_text", text: "Hm." }] };
const said = { id: "msg_1", type: "message", role: "assistant",
  status: "completed", content: [{ type: "output_text", text: "Hello",
    annotations: [], logprobs: [] }] };
const call = { id: "fc_2", type: "function_call", status: "completed",
  call_id: "call_1", name: "f", arguments: '{"a":1}' };

function itemEvents(item, index) {
  const at = { item_id: item.id, output_index: index };
  const part = item.content?.[0];
  const fresh = { ...item, status: "in_progress",
    ...(part ? { content: [] } : { arguments: "" }) };
  const start = { type: "response.output_item.added", output_index: index,
    item: fresh };
  const end = { type: "response.output_item.done", output_index: index, item };
  if (!part) {
    const kind = "response.function_call_arguments";
    const text = item.arguments;
    return [start, { type: `${kind}.delta`, delta: text.slice(0, 3), ...at },
      { type: `${kind}.delta`, delta: text.slice(3), ...at },
      { type: `${kind}.done`, arguments: text, ...at }, end];
  }
  const kind = `response.${part.type}`;
  const more = part.type === "output_text" ? { logprobs: [] } : {};
  const place = { ...at, content_index: 0 };
  return [start,
    { type: "response.content_part.added", part: { ...part, text: "" },
      ...place },
    { type: `${kind}.delta`, delta: part.text.slice(0, 1), ...more, ...place },
    { type: `${kind}.delta`, delta: part.text.slice(1), ...more, ...place },
    { type: `${kind}.done`, text: part.text, ...more, ...place },
    { type: "response.content_part.done", part, ...place }, end];
}

function responsesStream() {
  const output = [think, said, call];
  const usage = { input_tokens: 3, output_tokens: 4, total_tokens: 7,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: 1 } };
  const end = { ...base, status: "completed", output, usage, timings: {} };
  return copy([
    { type: "response.created", response: base },
    { type: "response.in_progress", response: base },
    ...output.flatMap(itemEvents),
    { type: "response.completed", response: end },
  ].map((e, i) => ({ ...e, sequence_number: i })));
}

// --- a stream of Messages --------------------------------------------------
function blockEvents(index, block, ...changes) {
  return [{ type: "content_block_start", index, content_block: block },
    ...changes.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index }];
}

function messagesStream() {
  const usage = { cache_creation: null, cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0, inference_geo: null, input_tokens: 3,
    output_tokens: 0, output_tokens_details: null, server_tool_use: null,
    service_tier: null, speed: null };
  return copy([
    { type: "message_start", message: { id: "msg_1", container: null,
      content: [], diagnostics: null, model: "demo", role: "assistant",
      stop_details: null, stop_reason: null, stop_sequence: null,
      type: "message", usage } },
    ...blockEvents(0, { type: "thinking", thinking: "", signature: "" },
      { type: "thinking_delta", thinking: "H" },
      { type: "thinking_delta", thinking: "m." },
      { type: "signature_delta", signature: "pen1." }),
    ...blockEvents(1, { type: "text", text: "", citations: null },
      { type: "text_delta", text: "Hello" }),
    ...blockEvents(2, { type: "tool_use", id: "toolu_1", name: "f", input: {},
      caller: { type: "direct" } },
    { type: "input_json_delta", partial_json: '{"a"' },
    { type: "input_json_delta", partial_json: ":1}" }),
    { type: "message_delta", delta: { container: null, stop_details: null,
      stop_reason: "tool_use", stop_sequence: null },
    usage: { cache_creation_input_tokens: 0, cache_read_input_tokens: 0,
      input_tokens: 3, output_tokens: 4, output_tokens_details: null,
      server_tool_use: null } },
    { type: "message_stop" },
  ]);
}

// --- order -----------------------------------------------------------------
const byType = (events, type, n = 0) =>
  events.filter((e) => e.type.endsWith(type))[n];
const renumbered = (events) => events.map((e, i) =>
  ("sequence_number" in e ? { ...e, sequence_number: i } : e));
const swapped = (events, i) => {
  [events[i], events[i + 1]] = [events[i + 1], events[i]];
};

function orders(name, make, order, breaks) {
  const right = order(make());
  is(right.faults, [], `${name}: a right stream has no faults`);
  const n = make().length;
  for (let i = 0; i < n; i++) {
    const what = `event ${i} ${make()[i].type}`;
    // what only the whole answer can tell
    if (["text", "thinking"].some((k) => make()[i].delta?.[k])) continue;
    const events = make();
    events.splice(i, 1);
    ok(order(renumbered(events)).faults.length, `${name}: without ${what}`);
    const twice = make();
    twice.splice(i, 0, copy(twice[i]));
    ok(order(renumbered(twice)).faults.length, `${name}: with ${what} twice`);
  }
  for (const [what, change] of Object.entries(breaks)) {
    const events = make();
    change(events);
    ok(order(events).faults.length, `${name}: ${what} is found`);
  }
}

orders("responses", responsesStream, responsesOrder, {
  "a gap in the sequence": (s) => { s.at(-1).sequence_number++; },
  "a delta that is not in the done text": (s) => {
    byType(s, "output_text.delta").delta += "!"; },
  "a done text that is not in the part": (s) => {
    byType(s, "content_part.done", 1).part.text = "no"; },
  "an item that is not the final one": (s) => {
    s.at(-1).response.output[1].content[0].text = "no"; },
  "another item's id": (s) => {
    byType(s, "output_text.delta").item_id = "msg_9"; },
  "a wrong index": (s) => {
    byType(s, "reasoning_text.done").content_index = 1; },
  "text before its part": (s) => { swapped(s, 10); },
  "another call id": (s) => {
    byType(s, "output_item.done", 2).item.call_id = "call_2"; },
  "usage at the start": (s) => { s[0].response.usage = {}; },
  "a response of another id": (s) => { s.at(-1).response.id = "resp_2"; },
  "an item that is still in progress": (s) => {
    byType(s, "output_item.done").item.status = "in_progress"; },
});
orders("messages", messagesStream, messagesOrder, {
  "an index out of order": (s) => { byType(s, "block_start", 1).index = 2; },
  "a text in a thinking block": (s) => {
    byType(s, "block_delta").delta = { type: "text_delta", text: "x" }; },
  "thinking behind its signature": (s) => { swapped(s, 3); },
  "input that is no JSON": (s) => {
    s.filter((e) => e.delta?.partial_json).at(-1).delta.partial_json = ":"; },
  "a stop reason at the start": (s) => {
    s[0].message.stop_reason = "end_turn"; },
  "no stop reason at the end": (s) => { s.at(-2).delta.stop_reason = null; },
  "text at the start of a block": (s) => {
    byType(s, "block_start", 1).content_block.text = "x"; },
});
is(messagesOrder(messagesStream()).message.content.at(-1).input, { a: 1 },
  "the message is joined");

// --- types -----------------------------------------------------------------
// One compilation tells of all: each broken value is named.
function types(name, t, make, breaks) {
  t.stream(make(), "right");
  for (const [what, change] of Object.entries(breaks)) {
    const events = make();
    change(events);
    t.stream(events, what);
  }
  const faults = t.faults();
  const wrong = faults.filter((f) => f.startsWith("right"));
  if (!ok(!wrong.length, `${name}: a right stream fits`))
    diag(wrong.join("\n"));
  for (const what of Object.keys(breaks))
    is(new Set(faults.filter((f) => f.startsWith(`${what},`)).map(
      (f) => f.slice(0, f.indexOf(":")))).size, 1,
    `${name}: ${what} is found, and nothing else`);
}

types("responses", openaiTypes(), responsesStream, {
  "a missing member": (s) => {
    delete byType(s, "output_text.delta").logprobs; },
  "a missing member of the object": (s) => { delete s[0].response.tools; },
  "a missing member of an item": (s) => {
    delete byType(s, "output_item.done").item.summary; },
  "a wrong type": (s) => { byType(s, "output_text.done").output_index = "0"; },
  "null where none may be": (s) => { s.at(-1).response.usage = null; },
  "an excess member": (s) => { byType(s, "output_item.added").extra = 1; },
  "an excess member of a part": (s) => {
    byType(s, "content_part.done").part.extra = 1; },
  "an excess member of the object": (s) => { s.at(-1).response.extra = 1; },
  "an unknown event": (s) => { s[4].type = "response.text.delta"; },
  "a status that is none": (s) => { s.at(-1).response.status = "done"; },
  "output_text of the server's": (s) => { s[0].response.output_text = "x"; },
});
types("messages", anthropicTypes(), messagesStream, {
  "a missing member": (s) => { delete s[0].message.container; },
  "a missing member of usage": (s) => { delete s[0].message.usage.speed; },
  "a missing member of a block": (s) => {
    delete byType(s, "block_start", 1).content_block.citations; },
  "a wrong type": (s) => { byType(s, "block_stop").index = "0"; },
  "null where none may be": (s) => { s.at(-2).usage.output_tokens = null; },
  "an excess member": (s) => { s.at(-1).extra = 1; },
  "an excess member of a delta": (s) => {
    byType(s, "block_delta").delta.extra = 1; },
  "an unknown event": (s) => { s[1].type = "block_start"; },
  "a stop reason that is none": (s) => { s.at(-2).delta.stop_reason = "stop"; },
});

// --- records ---------------------------------------------------------------
const one = 'event: a\ndata: {"type":"a"}\n\n';
is(records(`: waiting\n\n${one}`), { events: [{ type: "a" }], faults: [] },
  "a record is read, a comment is none");
for (const [what, text] of Object.entries({
  "another name": one.replace("event: a", "event: b"),
  "no name": 'data: {"type":"a"}\n\n',
  "[DONE]": `${one}data: [DONE]\n\n`,
  "an end in a record": one.slice(0, -1) }))
  ok(records(text).faults.length, `records: ${what} is found`);
done();
