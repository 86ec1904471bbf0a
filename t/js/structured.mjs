// Answers with a form through the official openai package: parse with zod,
// the streaming helper, functions of zod, refusals by name.
import OpenAI from "openai";
import { zodFunction, zodResponseFormat } from "openai/helpers/zod";
import { z } from "zod";
import { client, done, is, ok, refusal } from "./lib/tap.mjs";

const ai = client();
const messages = [{ role: "user", content: "What is the capital of France?" }];
const ask = { model: "demo", messages, temperature: 0 };
const quick = { ...ask, reasoning_effort: "none" };

// --- parse -------------------------------------------------------------------
const City = z.object({
  name: z.enum(["Paris", "Rome", "Łódź"]),
  sure: z.boolean(),
  code: z.string().regex(/^[A-Z]{2}$/),
  note: z.string().max(12).nullable(),
});
for (const base of [quick, ask]) {
  const p = await ai.chat.completions.parse({ ...base, max_tokens: 1700,
    response_format: zodResponseFormat(City, "city") });
  const m = p.choices[0].message;
  is(p.choices[0].finish_reason, "stop", "parse: it came to its end");
  ok(City.safeParse(m.parsed).success, `parse: ${JSON.stringify(m.parsed)}`);
  ok(!/think>/.test(m.content), "parse: content is JSON alone");
  is(Object.keys(m.parsed), Object.keys(City.shape),
    "parse: in the order of the schema");
}

// --- a schema that calls itself ---------------------------------------------
const Node = z.object({
  v: z.enum(["a", "b"]),
  get next() { return Node.nullable(); },
});
let trees = 0;
for (let seed = 1; seed <= 8; seed++) {
  const c = (await ai.chat.completions.create({ ...quick, max_tokens: 600,
    frequency_penalty: 2,
    temperature: 1, seed, response_format: zodResponseFormat(Node, "node") }))
    .choices[0];
  if (c.finish_reason === "length") continue;
  trees++;
  ok(Node.safeParse(JSON.parse(c.message.content)).success,
    `recursion: ${c.message.content}`);
}
ok(trees > 0, "some of them have an end");

// --- streams -----------------------------------------------------------------
const small = z.object({ city: z.enum(["Paris", "Rome"]), sure: z.boolean() });
const format = zodResponseFormat(small, "small");
const whole = await ai.chat.completions.parse({ ...quick,
  response_format: format });
const s = ai.chat.completions.stream({ ...quick, response_format: format });
let deltas = "", done_with = null, parts = 0;
s.on("content.delta", (e) => {
  deltas += e.delta;
  parts += e.parsed !== undefined && e.parsed !== null;
});
s.on("content.done", (e) => { done_with = e.parsed; });
const final = await s.finalChatCompletion();
is(deltas, whole.choices[0].message.content, "streamed: the same text");
ok(parts > 0, "with an object that grows");
is(done_with, whole.choices[0].message.parsed, "that is whole at the end");
is(final.choices[0].message.parsed, done_with, "and in the final completion");

// --- other kinds ------------------------------------------------------------
const object = await ai.chat.completions.create({ ...ask,
  response_format: { type: "json_object" } });
is(typeof JSON.parse(object.choices[0].message.content), "object",
  "json_object");
const regex = await ai.chat.completions.create({ ...quick,
  structured_outputs: { regex: "\\d{3}-\\d{4}" } });
ok(/^\d{3}-\d{4}$/.test(regex.choices[0].message.content), "a regex");
const two = await ai.chat.completions.create({ ...quick, n: 3,
  response_format: { type: "json_schema", json_schema: { name: "n",
    strict: true, schema: z.toJSONSchema(small) } } });
ok(two.choices.every((c) => small.safeParse(JSON.parse(c.message.content))
  .success), "n answers");

// --- functions: strict, called or not -----------------------------------------
const Timer = z.object({ minutes: z.union([z.literal(5), z.literal(10)]),
  sound: z.enum(["bell", "bird"]).nullable() });
const timer = zodFunction({ name: "set_timer", description: "Set a timer",
  parameters: Timer });
const call = { messages: [{ role: "user",
  content: "Set a timer for 18 minutes." }], tools: [timer] };
for (const base of [quick, ask]) {
  const p = await ai.chat.completions.parse({ ...base, max_tokens: 1200,
    ...call });
  const m = p.choices[0].message;
  is(p.choices[0].finish_reason, "tool_calls", "zodFunction: it was called");
  is(m.tool_calls.map((c) => c.function.name), ["set_timer"], "once");
  const args = m.tool_calls[0].function.parsed_arguments;
  ok(Timer.safeParse(args).success, `parsed: ${JSON.stringify(args)}`);
  const run = ai.chat.completions.stream({ ...base, max_tokens: 1200,
    ...call });
  const last = (await run.finalChatCompletion()).choices[0].message;
  is(last.tool_calls[0].function.parsed_arguments, args,
    "and so is what was streamed");
  const free = await ai.chat.completions.parse({ ...base, tools: [timer] });
  ok(/Paris/.test(free.choices[0].message.content)
    && !free.choices[0].message.tool_calls?.length, "it need not call");
}

// --- refusals ----------------------------------------------------------------
async function refused(schema, strict, param, text) {
  const e = await refusal(ai.chat.completions.create({ ...quick,
    response_format: { type: "json_schema", json_schema: { name: "bad",
      strict, schema } } }));
  ok(e instanceof OpenAI.BadRequestError, `${text}: BadRequestError`);
  is(e.param, param, `${text}: names the field`);
  ok(e.message.includes(text), `${text}: ${e.message}`);
}
const field = "response_format.json_schema.schema";
await refused({ type: "array", uniqueItems: true }, false, field,
  "uniqueItems at #");
await refused({ type: "object", properties: { a: { type: "string" } },
  required: ["a"] }, true, field,
"Invalid schema for response_format 'bad': In context=(), "
  + "'additionalProperties' is required to be supplied and to be false.");
await refused({ type: "object", properties: { a: { type: "string" } },
  required: [], additionalProperties: false }, true, field,
"Invalid schema for response_format 'bad': In context=(), 'required' is "
  + "required to be supplied and to be an array including every key in "
  + "properties. Missing 'a'.");
done();
