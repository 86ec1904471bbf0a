// LangChain over /v1/responses (useResponsesApi): text, streams, reasoning, a
// round of tools by items and by previous_response_id, JSON.
import { AIMessageChunk, HumanMessage, ToolMessage }
  from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ChatOpenAI } from "@langchain/openai";
import { z } from "zod";
import { done, fetchOptions, is, ok, url } from "./lib/tap.mjs";

function chat(effort, fields = {}) {
  return new ChatOpenAI({ model: "demo", temperature: 0, maxRetries: 0,
    useResponsesApi: true, apiKey: process.env.PEN_KEY,
    modelKwargs: { reasoning: { effort } },
    configuration: { baseURL: `${url}/v1`, fetchOptions }, ...fields });
}
const question = "What is the capital of France?";
const quiet = chat("none");

const whole = await quiet.invoke(question);
ok(/Paris/.test(whole.text), "invoke knows Paris");
ok(/^resp_/.test(whole.response_metadata.id), "by a response");
const u = whole.usage_metadata;
ok(u.input_tokens > 0 && u.input_tokens + u.output_tokens === u.total_tokens,
  "usage adds up");
const join = async (stream) => {
  let all = new AIMessageChunk("");
  for await (const c of await stream) all = all.concat(c);
  return all;
};
const joined = await join(quiet.stream(question));
is(joined.text, whole.text, "the stream has the same text");
is(joined.usage_metadata.output_tokens, u.output_tokens, "the same usage");

const deep = chat("high");
const thoughtful = await deep.invoke(question);
is(thoughtful.text, whole.text, "reasoning does not get into the text");
ok(thoughtful.usage_metadata.output_token_details.reasoning > 0,
  "but is counted");
is((await join(deep.stream(question))).text, whole.text, "streamed, too");

const weather = tool(() => '{"temperature": 21, "condition": "sunny"}', {
  name: "get_weather", description: "Get the weather for a city",
  schema: z.object({ city: z.string() }) });
const rain = new HumanMessage("What is the weather in Paris?");
for (const [name, model] of Object.entries({ "without thinking": quiet,
  "with thinking": deep })) {
  const bound = model.bindTools([weather]);
  for (const stream of [false, true]) {
    const what = `${name}, ${stream ? "streamed" : "whole"}`;
    const ask = (messages, options) => (stream
      ? join(bound.stream(messages, options))
      : bound.invoke(messages, options));
    const first = await ask([rain]);
    is(first.tool_calls.map((c) => [c.name, c.args]),
      [["get_weather", { city: "Paris" }]], `${what}: it calls`);
    const result = new ToolMessage({ tool_call_id: first.tool_calls[0].id,
      content: await weather.invoke(first.tool_calls[0].args) });
    ok(/sunny in Paris/.test((await ask([rain, first, result])).text),
      `${what}: its items and the result become an answer`);
    const next = await ask([result],
      { previous_response_id: first.response_metadata.id });
    ok(/sunny in Paris/.test(next.text),
      `${what}: so does the result alone, behind previous_response_id`);
  }
}
const form = z.object({ city: z.enum(["Paris", "Rome"]), sure: z.boolean() });
ok(form.safeParse(await quiet.withStructuredOutput(form,
  { name: "form", method: "jsonSchema" }).invoke(question)).success,
"withStructuredOutput gives what the schema wants");
done();
