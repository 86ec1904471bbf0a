// The AI SDK (packages ai and @ai-sdk/openai-compatible) against the whole
// site: text, streams, reasoning, a round of tools, JSON, leaving, errors.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, Output, generateText, isStepCount, streamText, tool }
  from "ai";
import { z } from "zod";
import { done, endless, is, ok, refusal, siteFetch, until, url, get }
  from "./lib/tap.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;

function provider(apiKey = process.env.PEN_KEY, shapes = false) {
  return createOpenAICompatible({ name: "site", baseURL: `${url}/v1`, apiKey,
    fetch: siteFetch, includeUsage: true, supportsStructuredOutputs: shapes });
}
const site = provider();
const model = site("demo");
const common = { model, temperature: 0, maxRetries: 0 };
const prompt = "What is the capital of France?";
const quiet = { site: { reasoningEffort: "none" } };

// --- text, whole and streamed ----------------------------------------------
const whole = await generateText({ ...common, prompt });
ok(/Paris/.test(whole.text), "generateText knows Paris");
ok(/France/.test(whole.reasoningText), "the thinking is a reasoning part");
is(whole.finishReason, "stop", "finishReason is stop");
ok(/^chatcmpl-/.test(whole.response.id), "the response has its id");
is(whole.response.modelId, "demo", "and its model");
const u = whole.usage;
ok(u.inputTokens > 0 && u.outputTokens > 0
  && u.totalTokens === u.inputTokens + u.outputTokens, "usage adds up");
ok(u.outputTokenDetails.reasoningTokens > 0
  && u.outputTokenDetails.reasoningTokens < u.outputTokens,
"and tells reasoning apart");

async function streamed(options) {
  const out = { text: "", reasoning: "", types: [], errors: [] };
  const s = streamText({ ...common, onError: ({ error }) => out.errors.push(error),
    ...options });
  for await (const p of s.fullStream) {
    if (out.types.at(-1) !== p.type) out.types.push(p.type);
    if (p.type === "text-delta") out.text += p.text;
    if (p.type === "reasoning-delta") out.reasoning += p.text;
    options.each?.(p);
  }
  out.result = s;
  return out;
}
const s = await streamed({ prompt });
is(s.text, whole.text, "streamText has the same text");
is(s.reasoning, whole.reasoningText, "and the same reasoning");
is(await s.result.finishReason, "stop", "and ends with stop");
is((await s.result.totalUsage).outputTokens, u.outputTokens, "the same usage");
is(s.types.filter((t) => /^(reasoning|text)-/.test(t)),
  ["reasoning-start", "reasoning-delta", "reasoning-end",
    "text-start", "text-delta", "text-end"], "thinking first, then the answer");
is(s.errors, [], "without an error");
const plain = await generateText({ ...common, prompt, providerOptions: quiet });
is([plain.reasoningText ?? "", plain.text], ["", whole.text],
  "reasoningEffort none: the answer alone");

const short = await generateText({ ...common, prompt: "Once upon a time",
  model: site.completionModel("demo"), maxOutputTokens: 5 });
is([short.usage.outputTokens, short.finishReason], [5, "length"],
  "the completions model keeps maxOutputTokens");
const cut = whole.text.split(" ")[2];
const stopped = await generateText({ ...common, prompt,
  stopSequences: [cut], providerOptions: quiet });
is(stopped.text, whole.text.slice(0, whole.text.indexOf(cut)),
  "stopSequences end the text in front of theirs");
const seeded = { ...common, temperature: 1, seed: 7, maxOutputTokens: 24,
  prompt: "Tell me a long story about a fox named Ida." };
is((await generateText(seeded)).text, (await generateText(seeded)).text,
  "one seed, one text");

// --- a round of tools --------------------------------------------------------
const asked = [];
const tools = {
  get_weather: tool({
    description: "Get the weather for a city",
    inputSchema: z.object({ city: z.string() }),
    execute: async (input) => {
      asked.push(input);
      return '{"temperature": 21, "condition": "sunny"}'; // as trained
    },
  }),
  set_timer: tool({
    description: "Set a timer",
    inputSchema: z.object({ minutes: z.int() }),
    execute: async () => "ok",
  }),
};
const round = { tools, stopWhen: isStepCount(4), providerOptions: quiet,
  prompt: "What is the weather in Paris?" };
const told = await generateText({ ...common, ...round });
is(asked, [{ city: "Paris" }], "the tool ran once, with typed input");
is(told.steps.map((t) => t.finishReason), ["tool-calls", "stop"],
  "in two steps");
ok(/^call_/.test(told.steps[0].toolCalls[0].toolCallId), "a call with an id");
ok(/sunny in Paris/.test(told.text), "and an answer in words");
let input = "";
const live = await streamed({ ...round, each: (p) => {
  if (p.type === "tool-input-delta") input += p.delta;
} });
is(JSON.parse(input), { city: "Paris" }, "streamed: the input comes in deltas");
is(asked.length, 2, "the tool ran");
is(live.text, told.text, "and the same answer came");
is(live.errors, [], "without an error");
const timer = await generateText({ ...common, tools, providerOptions: quiet,
  prompt: "Set a timer for 18 minutes." });
is(timer.toolCalls.map((c) => [c.toolName, c.input]),
  [["set_timer", { minutes: 18 }]], "numbers are numbers");
for (const [toolChoice, name] of [["required", null],
  [{ type: "tool", toolName: "set_timer" }, "set_timer"]]) {
  const forced = await generateText({ ...common, tools: { ...tools,
    get_weather: { ...tools.get_weather, execute: undefined },
    set_timer: { ...tools.set_timer, execute: undefined } },
  toolChoice, providerOptions: quiet, prompt, maxOutputTokens: 300 });
  ok(forced.toolCalls.length === 1 && !forced.toolCalls[0].invalid
    && forced.text === "" && (!name || forced.toolCalls[0].toolName === name),
  `toolChoice ${name ?? toolChoice}: a call that fits`);
}

// --- JSON --------------------------------------------------------------------
const shaped = provider(process.env.PEN_KEY, true)("demo");
const schema = z.object({ city: z.enum(["Paris", "Rome"]),
  sure: z.boolean() });
for (const providerOptions of [quiet, undefined]) {
  const r = await generateText({ ...common, model: shaped, prompt,
    providerOptions, output: Output.object({ schema }) });
  ok(schema.safeParse(r.output).success, `an object of a schema: ${r.text}`);
}
let e = await refusal(generateText({ ...common, model: shaped, prompt,
  output: Output.object({ schema: z.object({ a: z.iso.duration() }) }) }));
ok(e.statusCode === 400 && / at #/.test(e.data?.error.message),
  "a pattern that cannot be enforced is refused by name");

const cities = ['{"city": "Rome"}', '{"city": "Paris"}'];
const chosen = await generateText({ ...common, prompt, providerOptions: {
  site: { reasoningEffort: "none", structured_outputs: { choice: cities } } } });
ok(cities.includes(chosen.text) && JSON.parse(chosen.text).city,
  "one of several JSON texts can be forced");

// --- leaving -----------------------------------------------------------------
const leave = new AbortController();
let parts = 0;
const left = await streamed({ ...endless, maxOutputTokens: 3000,
  abortSignal: leave.signal, providerOptions: quiet,
  each: (p) => { if (p.type === "text-delta" && ++parts === 5) leave.abort(); } });
is(left.types.at(-1), "abort", "an abort ends the stream with its part");
ok(parts >= 5, "text came before");
ok(await until(async () => (await get("/health")).json.running === 0, 60000),
  "and nothing runs on");

// --- errors ------------------------------------------------------------------
e = await refusal(generateText({ ...common, prompt, model: provider("pk-x")("demo") }));
ok(APICallError.isInstance(e), "a wrong key is an APICallError");
is([e.statusCode, e.data.error.code, e.isRetryable],
  [401, "invalid_api_key", false], "401, not to be tried again");
e = await refusal(generateText({ ...common, prompt, model: site("nothing") }));
is([e.statusCode, e.data.error.code], [404, "model_not_found"],
  "an unknown model is 404");
e = await refusal(generateText({ ...common, prompt, temperature: 9 }));
is([e.statusCode, e.data.error.param], [400, "temperature"],
  "a wrong value is 400 with its field");
is(e.message, e.data.error.message, "the message is the server's");
ok(/temperature/.test(e.message), "and names the field");
const bad = await streamed({ prompt, temperature: 9 });
is(bad.errors.map((x) => [x.statusCode, x.data?.error.param]),
  [[400, "temperature"]], "the same from streamText");
done();
