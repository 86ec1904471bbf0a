// Tools with the official client: offer two, receive a streamed call with
// typed arguments, send the result back, get the answer in words. Then twenty
// fixed prompts, each call checked as a strict client does: a tool that was
// offered, arguments that its schema allows. The tools and phrasings are those
// that contrib/demo-model/gen_data.py trained.
import { client, diag, done, is, ok } from "./lib/tap.mjs";

const ai = client();

function tool(name, description, properties) {
  return { type: "function", function: { name, description, parameters: {
    type: "object", properties, required: Object.keys(properties),
    additionalProperties: false } } };
}
const [string, integer, number] = ["string", "integer", "number"].map(
  (type) => ({ type }));
const tools = {
  weather: tool("get_weather", "Get the weather for a city", { city: string }),
  timer: tool("set_timer", "Set a timer", { minutes: integer }),
  clock: tool("set_timer", "Start a timer", { minutes: number }),
  calc: tool("calculator", "Evaluate an expression", { expression: string }),
  file: tool("read_file", "Read a file", { path: string }),
  send: tool("send_message", "Send a message", { to: string, text: string }),
  search: tool("search", "Search the web", { query: string }),
  task: tool("mark_task", "Mark a task", { code: integer }),
  parcel: tool("lock_parcel", "Lock the parcel", { id: integer }),
  ring: tool("ring_door", "Ring a door", { door: string, count: integer }),
};

// What a strict client does: every required argument, no other, of its type.
function faults(offered, call) {
  const t = offered.find((o) => o.function.name === call.name);
  if (!t) return [`${call.name} was not offered`];
  const { properties, required } = t.function.parameters;
  let args;
  try {
    args = JSON.parse(call.arguments);
  } catch (e) {
    return [`arguments are no JSON: ${e.message}`];
  }
  const fits = {
    string: (v) => typeof v === "string",
    integer: Number.isInteger,
    number: Number.isFinite,
  };
  return [
    ...required.filter((k) => !(k in args)).map((k) => `${k} is missing`),
    ...Object.keys(args).filter((k) => !(k in properties)).map(
      (k) => `${k} is not a parameter`),
    ...Object.keys(args).filter((k) => properties[k]
      && !fits[properties[k].type](args[k])).map((k) => `${k}: wrong type`),
  ];
}

// Join the deltas of a stream by the rules of OpenAI's reference.
async function joined(request) {
  const out = { text: "", calls: [], finish: [], shape: true, pieces: 0 };
  for await (const c of await ai.chat.completions.create(
    { ...request, stream: true })) {
    for (const { delta, finish_reason } of c.choices) {
      out.text += delta.content ?? "";
      if (finish_reason) out.finish.push(finish_reason);
      for (const d of delta.tool_calls ?? []) {
        out.pieces++;
        if (d.index === out.calls.length) {
          out.calls.push({ id: d.id, name: d.function.name, arguments: "" });
          out.shape &&= d.type === "function" && d.function.arguments === ""
            && /^call_/.test(d.id);
        } else {
          out.shape &&= d.index === out.calls.length - 1 && !d.id && !d.type
            && !("name" in d.function);
        }
        out.calls[d.index].arguments += d.function.arguments;
      }
    }
  }
  return out;
}

// --- the story ------------------------------------------------------------
const offered = [tools.weather, tools.timer];
const ask = { model: "demo", temperature: 0, tools: offered,
  reasoning_effort: "none" };
const question = { role: "user", content: "What is the weather in Paris?" };
const s = await joined({ ...ask, messages: [question] });
is(s.finish, ["tool_calls"], "the model calls a tool");
ok(s.shape, "announced once");
// What one look finds is one piece, and a call is short: streams are asked for
// until one comes in more.
let pieces = s.pieces;
for (let i = 0; i < 50 && pieces <= 2; i++)
  pieces = (await joined({ ...ask, messages: [question] })).pieces;
ok(pieces > 2, "then piece by piece");
is(s.calls.map((c) => [c.name, JSON.parse(c.arguments)]),
  [["get_weather", { city: "Paris" }]], "the right one, with its argument");
const official = await ai.chat.completions.stream(
  { ...ask, messages: [question] }).finalChatCompletion();
is(official.choices[0].message.tool_calls.map((c) => c.function.arguments),
  s.calls.map((c) => c.arguments), "the client's own joining agrees");
const whole = await ai.chat.completions.create(
  { ...ask, messages: [question] });
is(whole.choices[0].message.tool_calls[0].function.arguments,
  s.calls[0].arguments, "the whole answer has the same bytes");
is(whole.choices[0].message.content, null, "and no content");
is(whole.choices[0].finish_reason, "tool_calls", "and the same reason");

const history = [question, whole.choices[0].message, { role: "tool",
  tool_call_id: whole.choices[0].message.tool_calls[0].id,
  content: '{"temperature": 21, "condition": "sunny"}' }];
const answer = await joined({ ...ask, messages: history });
is(answer.finish, ["stop"], "with the result, it answers");
ok(/sunny in Paris/.test(answer.text), "in words");
is(answer.calls, [], "without another call");
const none = await joined({ ...ask, messages: [question],
  tool_choice: "none" });
is(none.calls, [], "tool_choice none: no call");

// --- calls that must come -----------------------------------------------------
const capital = { role: "user", content: "What is the capital of France?" };
const { clock, ...distinct } = tools; // two have one name
const must = { ...ask, tools: Object.values(distinct), messages: [capital],
  max_tokens: 300 };
for (const [choice, finish] of [["required", "tool_calls"],
  [{ type: "function", function: { name: "set_timer" } }, "stop"],
  [{ type: "function", function: { name: "ring_door" } }, "stop"]]) {
  const name = choice.function?.name;
  for (const temperature of [0, 1.5]) {
    const what = `${name ?? choice} at ${temperature}`;
    const r = await joined({ ...must, temperature, seed: 3,
      tool_choice: choice });
    if (r.finish[0] === "length") continue;
    is(r.finish, [finish], `${what}: ${finish}`);
    ok(r.calls.length === 1 && r.shape && r.text === "", `${what}: one call`);
    is(r.calls.flatMap((c) => faults(must.tools, c)), [], `${what}: it fits`);
    if (name) is(r.calls[0].name, name, `${what}: that one`);
    const w = await ai.chat.completions.create({ ...must, temperature, seed: 3,
      tool_choice: choice });
    is(w.choices[0].message.tool_calls.map((c) => c.function.arguments),
      r.calls.map((c) => c.arguments), `${what}: the same bytes whole`);
  }
}
is(none.finish, ["stop"], "an answer");

// --- twenty prompts -------------------------------------------------------
const prompts = [
  ["weather", "file", "Is it raining in Oslo?"],
  ["weather", "calc", "Check the weather in Rome."],
  ["timer", "weather", "Set a timer for 18 minutes."],
  ["timer", "calc", "Start a 40 minute timer."],
  ["timer", "send", "I need a timer of 25 minutes."],
  ["clock", "search", "Wake me in 5 minutes."],
  ["clock", "file", "Remind me in 12 minutes."],
  ["clock", "weather", "Set a timer for 30 minutes."],
  ["task", "weather", "Mark the task 314."],
  ["task", "search", "Please mark the task 77."],
  ["parcel", "timer", "Lock the parcel with the id 834."],
  ["parcel", "file", "Please lock the parcel 181."],
  ["ring", "timer", "Ring the door Ida 3 times."],
  ["ring", "calc", "Please ring the door Emma 12 times."],
  ["calc", "weather", "Calculate 12 plus 30."],
  ["calc", "timer", "What is 75 - 20?"],
  ["file", "timer", "Read the file notes.txt."],
  ["search", "timer", "Look up Berlin hotels."],
  ["send", "search", "Send a message to Anna: I am late"],
  ["send", "timer", "Tell Felix this: see you at 7"],
];
let calls = 0;
for (const [a, b, content] of prompts) {
  const list = [tools[a], tools[b]];
  const r = await joined({ ...ask, tools: list,
    messages: [{ role: "user", content }] });
  const wrong = r.calls.flatMap((c) => faults(list, c));
  if (!ok(wrong.length === 0 && r.shape, `valid: ${content}`))
    diag(`${wrong.join("; ")} in ${JSON.stringify(r.calls)}`);
  calls += r.calls.length;
}
ok(calls >= prompts.length, `${calls} calls were made`);
done();
