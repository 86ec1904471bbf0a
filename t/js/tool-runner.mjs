// The tool loop of the official @anthropic-ai/sdk, which agents use: it asks,
// runs what is called, and asks again with the results, over the route's beta
// name (?beta=true) and headers. Fails where a call's id, its input or the
// thought in front of it does not come back as it was sent.
import { betaZodTool } from "@anthropic-ai/sdk/helpers/beta/zod";
import { z } from "zod";
import { anthropic, said } from "./lib/messages.mjs";
import { done, is, ok } from "./lib/tap.mjs";

const ai = anthropic();
const asked = [];
const weather = betaZodTool({ name: "get_weather",
  description: "Get the weather for a city",
  inputSchema: z.object({ city: z.string() }),
  run: ({ city }) => {
    asked.push(city);
    return '{"temperature": 21, "condition": "sunny"}';
  } });
const timer = betaZodTool({ name: "set_timer", description: "Set a timer",
  inputSchema: z.object({ minutes: z.int() }), run: () => "ok" });
const base = { model: "demo", max_tokens: 1500, temperature: 0,
  tools: [weather, timer],
  messages: [{ role: "user", content: "What is the weather in Paris?" }] };

for (const [name, more] of Object.entries({
  "without thinking": {},
  "thinking": { thinking: { type: "adaptive" } },
  "thinking, omitted": { thinking: { type: "adaptive", display: "omitted" } },
})) {
  const counts = [];
  for (const stream of [false, true]) {
    asked.length = 0;
    const runner = ai.beta.messages.toolRunner({ ...base, ...more, stream });
    const seen = [];
    for await (const step of runner) {
      const m = stream ? await step.finalMessage() : step;
      seen.push(m.stop_reason);
      counts.push(m.usage.input_tokens + m.usage.cache_read_input_tokens);
    }
    const what = `${name}, ${stream ? "streamed" : "whole"}`;
    is(seen, ["tool_use", "end_turn"], `${what}: a call, then an answer`);
    is(asked, ["Paris"], `${what}: the tool was run with its input`);
    ok(/sunny in Paris/.test(said(await runner.done())),
      `${what}: the answer has what it gave`);
  }
  is(counts.slice(2), counts.slice(0, 2), `${name}: the same prompts`);
}
const n = await ai.beta.messages.countTokens({ model: "demo",
  messages: base.messages });
const m = await ai.beta.messages.create({ ...base, tools: undefined });
is(n.input_tokens, m.usage.input_tokens + m.usage.cache_read_input_tokens,
  "the beta names of both routes agree");
done();
