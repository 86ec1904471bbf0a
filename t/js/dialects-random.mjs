// Random requests to both routes (PEN_SEED, PEN_COUNT): limits that cut a
// thought, a text or a call anywhere, stop strings, tools, forms, logprobs,
// temperatures. Each is asked for whole and as a stream: one answer, every event
// in its order, every value of its type. A call that the end of the answer cut
// is in the stream alone, where it had been told of.
import * as M from "./lib/messages.mjs";
import * as R from "./lib/responses.mjs";
import { done, is, ok } from "./lib/tap.mjs";

let state = Number(process.env.PEN_SEED ?? 1);
function random(n) {
  state = (Math.imul(state, 1103515245) + 12345) >>> 0;
  return (state >>> 16) % n;
}
const pick = (list) => list[random(list.length)];
const maybe = (n, value) => (random(n) ? {} : value());

const questions = ["What is the weather in Paris?", "What is 14 + 23?",
  "What is the weather in Rome and Oslo?", "Set a timer for 18 minutes.",
  "Say exactly: héllo wörld 漢字 🚀 fin", "Tell me a short story about a fox.",
  "Sort these words: pear, apple, fig", "What is the capital of France?",
  "Give me JSON with name, age: Anna is 7 years old.", "Hello!"];
const text = { type: "string" };
const tools = [["get_weather", "Get the weather for a city", { city: text }],
  ["set_timer", "Set a timer", { minutes: { type: "integer" } }],
  ["send_message", "Send a message", { to: text, text }]];
const form = { type: "object", properties: {
  a: { enum: ["ä", "漢", "🚀", 1, null] }, b: { type: "array", maxItems: 3,
    items: { type: "boolean" } } }, required: ["a", "b"],
additionalProperties: false };
const schema = (properties) => ({ type: "object", properties,
  required: Object.keys(properties), additionalProperties: false });

function choice() {
  return pick(["auto", "auto", "none", "required", "set_timer"]);
}

// Functions, one of a namespace, and one that takes a text.
function offered() {
  const list = tools.map(([name, description, p]) => ({ type: "function", name,
    description, parameters: schema(p), strict: !random(2) }));
  const note = { type: "custom", name: "note", description: "Write a note" };
  return pick([list, list, [...list, note], [list[1], { type: "namespace",
    name: "my", description: "Mine.", tools: [list[0], note] }]]);
}

function forResponses() {
  const chosen = choice();
  const kind = random(4);
  return { input: pick(questions), store: false, seed: random(1000),
    temperature: pick([0, 0, 1, 1.6]), max_output_tokens: 1 + random(90),
    reasoning: { effort: pick(["none", "low", "high"]) },
    ...(kind < 2 && { parallel_tool_calls: !random(2),
      tools: offered(),
      tool_choice: !random(8) ? { type: "allowed_tools", mode: "required",
        tools: [{ type: "custom", name: pick(["note", "my__note"]) },
          { type: "function", name: "set_timer" }] } : chosen === "set_timer"
        ? { type: "function", name: chosen } : chosen }),
    ...(kind === 2 && { text: { format: { type: "json_schema", name: "f",
      schema: form } } }),
    ...maybe(3, () => ({ stop: [pick(["e", " i", ".", "}", "\n"])] })),
    ...maybe(3, () => ({ include: ["message.output_text.logprobs",
      "reasoning.encrypted_content"], top_logprobs: random(3) })) };
}

function forMessages() {
  const chosen = choice();
  const kind = random(4);
  const thinking = pick([undefined, { type: "adaptive" },
    { type: "adaptive", display: "omitted" }]);
  return { messages: [{ role: "user", content: pick(questions) }],
    seed: random(1000), temperature: pick([0, 0, 0.6, 1]),
    max_tokens: 1 + random(90), thinking,
    ...(kind < 2 && { tools: tools.map(([name, description, p]) => ({ name,
      description, input_schema: schema(p), strict: !random(2) })),
    tool_choice: { type: { required: "any", set_timer: "tool" }[chosen]
      ?? chosen, ...(chosen === "set_timer" && { name: chosen }),
    ...(chosen !== "none" && { disable_parallel_tool_use: !random(2) }) } }),
    ...(kind === 2 && { output_config: { format: { type: "json_schema",
      schema: form } } }),
    ...maybe(3, () => ({ stop_sequences: [pick(["e", " i", ".", "}"])] })) };
}

async function responses(body, name) {
  const one = await R.whole(body, `${name}, whole`);
  const { response } = await R.streamed(body, `${name}, streamed`);
  const output = response.output.filter((i) => !/_call$/.test(i.type)
    || i.status !== "incomplete");
  is(R.gist({ ...response, output }), R.gist(one), `${name}: one answer`);
}

async function messages(body, name) {
  const one = await M.whole(body, `${name}, whole`);
  const { message } = await M.streamed(body, `${name}, streamed`, true);
  let { content } = message;
  const last = M.uses(message).at(-1);
  if (M.uses(message).length === M.uses(one).length + 1
    && ["max_tokens", "stop_sequence"].includes(message.stop_reason))
    content = content.filter((b) => b !== last);
  is(M.gist({ ...message, content }), M.gist(one), `${name}: one answer`);
}

const count = Number(process.env.PEN_COUNT ?? 20);
for (let i = 0; i < count; i++) {
  for (const [name, make, ask] of [["responses", forResponses, responses],
    ["messages", forMessages, messages]]) {
    const before = state;
    const body = make();
    try {
      await ask(body, `${name} ${before}`);
    } catch (e) {
      ok(false, `${name} ${before}: ${e.message} ${JSON.stringify(body)}`);
    }
  }
}
R.judged();
M.judged();
done();
