// Event streams of Responses and Messages, event by event: what may follow
// what, by the packages' reference. Each function takes the parsed events and
// returns { faults, ... } with what it joined on the way.
import { isDeepStrictEqual } from "node:util";

function words(value) {
  return JSON.stringify(value)?.slice(0, 200);
}

// A list of faults with the place of the event that they are about.
class Faults {
  constructor() {
    this.list = [];
    this.i = 0;
    this.type = "";
  }

  must(pass, what) {
    if (!pass) this.list.push(`event ${this.i} ${this.type}: ${what}`);
    return pass;
  }

  same(got, want, what) {
    this.must(isDeepStrictEqual(got, want),
      `${what} is ${words(got)}, not ${words(want)}`);
  }
}

// --- Responses -------------------------------------------------------------

const prefix = { message: /^msg_/, reasoning: /^rs_/, function_call: /^fc_/,
  custom_tool_call: /^ctc_/ };
// What a call is called with. The type of one of a custom tool has no status:
// ours has one where it is cut.
const args = { function_call: "arguments", custom_tool_call: "input" };
const parts = {
  "response.output_text": ["output_text", "message"],
  "response.reasoning_text": ["reasoning_text", "reasoning"],
};
const last = { "response.completed": "completed",
  "response.incomplete": "incomplete", "response.failed": "failed" };

class Items {
  constructor(f) {
    this.f = f;
    this.done = [];      // items that are over
    this.logprobs = [];
  }

  added(e) {
    const { f } = this;
    f.must(!this.item, "an item is open");
    f.same(e.output_index, this.done.length, "output_index");
    f.same(e.item.status, e.item.type === "custom_tool_call" ? undefined
      : "in_progress", "status");
    f.must(prefix[e.item.type]?.test(e.item.id), `id ${e.item.id}`);
    f.must(!this.done.some((d) => d.id === e.item.id), "the id is not new");
    if (args[e.item.type])
      f.same(e.item[args[e.item.type]], "", "arguments of a new call");
    else
      f.same(e.item.content, [], "content of a new item");
    this.item = e.item;
    this.content = [];
    this.args = null;      // of a call: when they are over
    this.text = "";
  }

  // An event inside the open item.
  inside(e, type) {
    const { f, item } = this;
    if (!f.must(item, "no item is open")) return false;
    f.same(e.output_index, this.done.length, "output_index");
    f.same(e.item_id, item.id, "item_id");
    return f.must(item.type === type, `in an item of type ${item.type}`);
  }

  partAdded(e) {
    const { f } = this;
    const type = e.part.type === "reasoning_text" ? "reasoning" : "message";
    if (!this.inside(e, type)) return;
    f.must(!this.part, "a part is open");
    f.same(e.content_index, this.content.length, "content_index");
    f.same(e.part.text, "", "text of a new part");
    this.part = { type: e.part.type, text: "", over: false };
  }

  inPart(e, kind) {
    const [type, item] = parts[kind];
    const { f, part } = this;
    if (!this.inside(e, item) || !f.must(part, "no part is open")) return false;
    f.same(e.content_index, this.content.length, "content_index");
    f.must(!part.over, "the part's text is over");
    return f.must(part.type === type, `in a part of type ${part.type}`);
  }

  delta(e, kind) {
    if (!this.inPart(e, kind)) return;
    this.f.must(e.delta !== "" || e.logprobs?.length, "an empty delta");
    this.part.text += e.delta;
    if (e.logprobs) this.logprobs.push(...e.logprobs);
  }

  textDone(e, kind) {
    if (!this.inPart(e, kind)) return;
    this.f.same(e.text, this.part.text, "text");
    this.part.over = true;
  }

  partDone(e) {
    const { f, part } = this;
    if (!f.must(part, "no part is open")) return;
    f.same(e.content_index, this.content.length, "content_index");
    f.same(e.item_id, this.item.id, "item_id");
    f.must(part.over, "its text is not over");
    f.same([e.part.type, e.part.text], [part.type, part.text], "part");
    this.content.push(e.part);
    this.part = null;
  }

  argsDelta(e, type) {
    if (!this.inside(e, type)) return;
    this.f.must(this.args === null, "the arguments are over");
    this.f.must(e.delta !== "", "an empty delta");
    this.text += e.delta;
  }

  argsDone(e, type) {
    if (!this.inside(e, type)) return;
    this.f.must(this.args === null, "the arguments are over");
    this.f.same(e[args[type]], this.text, "arguments");
    this.args = this.text;
  }

  itemDone(e) {
    const { f, item } = this;
    if (!f.must(item, "no item is open")) return;
    f.same(e.output_index, this.done.length, "output_index");
    f.must(!this.part, "a part is open");
    f.same([e.item.type, e.item.id], [item.type, item.id], "item");
    f.must([item.type === "custom_tool_call" ? undefined : "completed",
      "incomplete"].includes(e.item.status), `status ${e.item.status}`);
    if (args[item.type]) {
      f.must(this.args !== null, "its arguments are not over");
      f.same([e.item.name, e.item.namespace, e.item.call_id,
        e.item[args[item.type]]],
      [item.name, item.namespace, item.call_id, this.args], "call");
    } else {
      f.same(e.item.content, this.content, "content");
    }
    this.done.push(e.item);
    this.item = null;
  }
}

function lifecycle(f, items, e, i, first) {
  if (i < 2) {
    f.same(e.type, ["response.created", "response.in_progress"][i], "type");
    f.same(e.response?.status, "in_progress", "status");
    f.same(e.response?.output, [], "output");
    f.must(!e.response?.usage, "usage before the end");
    return;
  }
  f.must(last[e.type], "unknown here");
  f.same(e.response?.id, first?.id, "id");
  f.same(e.response?.created_at, first?.created_at, "created_at");
  f.must([last[e.type], "cancelled"].includes(e.response?.status),
    `status ${e.response?.status}`);
  f.must(!items.item, "an item is open");
  f.same(e.response?.output, items.done, "output");
}

// { faults, response, logprobs }: response is that of the last event.
export function responsesOrder(events) {
  const f = new Faults();
  const items = new Items(f);
  const first = events[0]?.response;
  let response = null;
  events.forEach((e, i) => {
    [f.i, f.type] = [i, e.type];
    f.same(e.sequence_number, i, "sequence_number");
    f.must(!response, "behind the end");
    if (i < 2) return lifecycle(f, items, e, i);
    const kind = e.type.replace(/\.(delta|done)$/, "");
    switch (e.type) {
    case "response.output_item.added": return items.added(e);
    case "response.output_item.done": return items.itemDone(e);
    case "response.content_part.added": return items.partAdded(e);
    case "response.content_part.done": return items.partDone(e);
    case "response.output_text.delta":
    case "response.reasoning_text.delta": return items.delta(e, kind);
    case "response.output_text.done":
    case "response.reasoning_text.done": return items.textDone(e, kind);
    case "response.function_call_arguments.delta":
      return items.argsDelta(e, "function_call");
    case "response.function_call_arguments.done":
      return items.argsDone(e, "function_call");
    case "response.custom_tool_call_input.delta":
      return items.argsDelta(e, "custom_tool_call");
    case "response.custom_tool_call_input.done":
      return items.argsDone(e, "custom_tool_call");
    default:
      lifecycle(f, items, e, i, first);
      ({ response } = e);
    }
  });
  f.must(response, "the stream has no end");
  f.must(items.done.length > 0, "no item at all");
  return { faults: f.list, response, logprobs: items.logprobs };
}

// --- Messages --------------------------------------------------------------

const deltas = { text_delta: "text", thinking_delta: "thinking",
  signature_delta: "thinking", input_json_delta: "tool_use" };
const member = { text_delta: "text", thinking_delta: "thinking",
  signature_delta: "signature", input_json_delta: "partial_json" };

function blockStart(f, out, e) {
  const b = e.content_block;
  f.same(e.index, out.content.length, "index");
  f.must(!out.open, "a block is open");
  if (b.type === "text") f.same(b.text, "", "text");
  if (b.type === "thinking") f.same([b.thinking, b.signature], ["", ""], "it");
  if (b.type === "tool_use") {
    f.same(b.input, {}, "input");
    f.must(!out.content.some((c) => c.id === b.id), "the id is not new");
  }
  out.open = { ...b, json: "", signed: 0 };
}

function blockDelta(f, out, e) {
  const { open } = out;
  if (!f.must(open, "no block is open")) return;
  f.same(e.index, out.content.length, "index");
  const value = e.delta[member[e.delta.type]];
  f.same(deltas[e.delta.type], open.type, `block of a ${e.delta.type}`);
  f.must(value !== "", "an empty delta");
  f.must(!open.signed, "behind its signature");
  if (e.delta.type === "input_json_delta") open.json += value;
  else open[member[e.delta.type]] += value;
  if (e.delta.type === "signature_delta") open.signed++;
}

function blockStop(f, out, e) {
  if (!f.must(out.open, "no block is open")) return;
  const { json, signed, ...block } = out.open;
  f.same(e.index, out.content.length, "index");
  if (block.type === "tool_use") {
    try {
      block.input = JSON.parse(json || "{}");
    } catch (err) {
      f.must(out.mayCut, `input is no JSON: ${err.message}`);
    }
    f.must(block.input?.constructor === Object, "input is no object");
  }
  if (block.type === "thinking") f.same(signed, 1, "signatures");
  out.content.push(block);
  out.open = null;
}

function messageStart(f, out, e, i) {
  f.same(i, 0, "place");
  f.same([e.message.content, e.message.stop_reason, e.message.stop_sequence],
    [[], null, null], "content, stop_reason, stop_sequence");
  out.message = e.message;
}

// { faults, message }: the message as its stream has told it. A call that the
// end of the answer cut has broken JSON: with mayCut that is no fault.
export function messagesOrder(events, mayCut = false) {
  const f = new Faults();
  const out = { content: [], open: null, message: null, delta: null, end: 0,
    mayCut };
  events.filter((e) => e.type !== "ping").forEach((e, i) => {
    [f.i, f.type] = [i, e.type];
    f.must(!out.end, "behind the end");
    if (e.type !== "message_start") f.must(out.message, "before message_start");
    if (!["message_stop", "message_start"].includes(e.type))
      f.must(!out.delta, "behind message_delta");
    switch (e.type) {
    case "message_start": return messageStart(f, out, e, i);
    case "content_block_start": return blockStart(f, out, e);
    case "content_block_delta": return blockDelta(f, out, e);
    case "content_block_stop": return blockStop(f, out, e);
    case "message_delta":
      f.must(!out.open, "a block is open");
      f.must(e.delta.stop_reason, "no stop_reason");
      out.delta = e;
      return;
    case "message_stop":
      f.must(out.delta, "before message_delta");
      out.end++;
      return;
    default: f.must(false, "unknown");
    }
  });
  f.must(out.end, "the stream has no end");
  return { faults: f.list, message: { ...out.message, ...out.delta?.delta,
    content: out.content,
    usage: { ...out.message?.usage, ...out.delta?.usage } } };
}
