// One greedy question over chat, Responses and Messages: the same prompt, the
// same text, the same thought, the same call, whole and streamed. Each test
// can fail where a dialect builds another prompt or splits its answer wrong.
import { anthropic, messagesText } from "./lib/messages.mjs";
import { client, done, is, ok } from "./lib/tap.mjs";

const openai = client();
const ai = anthropic();
const model = "demo";
const limit = 1500;
const schema = { type: "object", properties: { city: { type: "string" } },
  required: ["city"], additionalProperties: false };
const form = { type: "object", properties: { city: { enum: ["Paris", "Rome"] },
  sure: { type: "boolean" } }, required: ["city", "sure"],
additionalProperties: false };
const about = ["get_weather", "Get the weather for a city"];

// A question in each dialect. `think` is on or off, `tool` offers one.
function asked({ text, system, think, tool, json, strict }) {
  const user = { role: "user", content: text };
  const [name, description] = about;
  const effort = think ? "high" : "none";
  return {
    chat: { model, temperature: 0, max_completion_tokens: limit,
      reasoning_effort: effort,
      messages: [...(system ? [{ role: "system", content: system }] : []),
        user],
      ...(tool && { tools: [{ type: "function", function: { name, description,
        parameters: schema, strict } }] }),
      ...(json && { response_format: { type: "json_schema", json_schema: {
        name: "form", schema: form } } }) },
    responses: { model, temperature: 0, max_output_tokens: limit, store: false,
      reasoning: { effort }, input: [user],
      ...(system && { instructions: system }),
      ...(tool && { tools: [{ type: "function", name, description,
        parameters: schema, strict }] }),
      ...(json && { text: { format: { type: "json_schema", name: "form",
        schema: form } } }) },
    messages: { model, temperature: 0, max_tokens: limit, messages: [user],
      ...(think && { thinking: { type: "adaptive" } }),
      ...(system && { system }),
      ...(tool && { tools: [{ name, description, input_schema: schema,
        strict }] }),
      ...(json && { output_config: { format: { type: "json_schema",
        schema: form } } }) },
  };
}

// What came back, in one shape.
const answers = {
  async chat(body, stream) {
    if (!stream) {
      const r = await openai.chat.completions.create(body);
      const m = r.choices[0].message;
      return { text: m.content ?? "", thought: m.reasoning_content ?? "",
        calls: (m.tool_calls ?? []).map((c) => [c.function.name,
          c.function.arguments]), prompt: r.usage.prompt_tokens,
        tokens: r.usage.completion_tokens };
    }
    const out = { text: "", thought: "", calls: [] };
    for await (const c of await openai.chat.completions.create({ ...body,
      stream: true, stream_options: { include_usage: true } })) {
      const d = c.choices[0]?.delta ?? {};
      out.text += d.content ?? "";
      out.thought += d.reasoning_content ?? "";
      for (const t of d.tool_calls ?? []) {
        out.calls[t.index] ??= [t.function.name, ""];
        out.calls[t.index][1] += t.function.arguments;
      }
      if (c.usage) Object.assign(out, { prompt: c.usage.prompt_tokens,
        tokens: c.usage.completion_tokens });
    }
    return out;
  },
  async responses(body, stream) {
    let r = null;
    if (!stream) r = await openai.responses.create(body);
    else for await (const e of await openai.responses.create({ ...body,
      stream: true })) r = e.response ?? r;
    const all = (type) => r.output.filter((i) => i.type === type);
    return { text: all("message").map((i) => i.content[0].text).join(""),
      thought: all("reasoning").map((i) => i.content[0].text).join(""),
      calls: all("function_call").map((i) => [i.name, i.arguments]),
      prompt: r.usage.input_tokens, tokens: r.usage.output_tokens };
  },
  messages: (body, stream) => messagesText(ai, body, stream),
};

const parsed = ([name, args]) => [name, JSON.parse(args)];
const questions = {
  "a question": { text: "What is the capital of France?" },
  "a system prompt": { text: "What is your name?",
    system: "Your name is Zoe." },
  "a thought": { text: "What is the capital of France?", think: true },
  "a sum with a thought": { text: "What is 14 + 23?", think: true },
  "a list": { text: "Sort these words: pear, apple, fig", think: true },
  "a call": { text: "What is the weather in Paris?", tool: true },
  "a thought and a call": { text: "What is the weather in Paris?", tool: true,
    think: true },
  "two calls": { text: "What is the weather in Rome and Oslo?", tool: true },
  "a strict call": { text: "What is the weather in Paris?", tool: true,
    strict: true },
  "a form": { text: "What is the capital of France?", json: true },
  "a form behind a thought": { text: "What is the capital of France?",
    json: true, think: true },
};
for (const [name, question] of Object.entries(questions)) {
  const bodies = asked(question);
  const first = await answers.chat(bodies.chat, false);
  ok(first.text || first.calls.length, `${name}: chat answers`);
  is([first.thought !== "", first.calls.length > 0],
    [!!question.think, !!question.tool], `${name}: with what was asked for`);
  for (const [dialect, ask] of Object.entries(answers))
    for (const stream of [false, true]) {
      const { calls, ...rest } = await ask(bodies[dialect], stream);
      const { calls: known, ...same } = first;
      // white space alone beside calls is no item and no block
      if (dialect !== "chat" && known.length && !same.text.trim())
        same.text = "";
      const what = `${name}: ${dialect}, ${stream ? "streamed" : "whole"}`;
      is(rest, same, `${what}, is the same`);
      is(calls.map(parsed), known.map(parsed), `${what}, calls the same`);
      // a whole answer of Messages has no bytes of its arguments
      if (dialect !== "messages" || stream)
        is(calls, known, `${what}, with the same bytes`);
    }
}
done();
