// Scenes with a scripted engine (PEN_SCENE), as both official packages see
// them: comment lines in a stream, an engine that fails, and an answer of every
// kind of part with wide characters.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import * as M from "./lib/messages.mjs";
import * as R from "./lib/responses.mjs";
import { done, is, ok, refusal, same } from "./lib/tap.mjs";

const content = "Hello";
const quick = { input: content, reasoning: { effort: "none" }, store: false };
const short = { messages: [{ role: "user", content }], max_tokens: 400 };

async function heartbeats() {
  const r = await R.streamed(quick, "responses");
  ok(/^: /m.test(R.wire.last().text), "responses: there are comment lines");
  const m = await M.streamed(short, "messages");
  ok(/^: /m.test(M.wire.last().text), "messages: there are comment lines");
  is([R.said(r.response), M.said(m.message)], [process.env.PEN_SAYS,
    process.env.PEN_SAYS], "the text is whole");
  const final = await R.accumulated(quick, "responses, accumulated");
  is(final.output_text, process.env.PEN_SAYS, "responses: by the package, too");
  is(M.said(await M.accumulated(short, "messages, accumulated")),
    process.env.PEN_SAYS, "messages: by the package, too");
}

// What was written before stays; then the failure is told.
async function failure() {
  const r = await R.streamed(quick, "responses");
  is(r.events.at(-1).type, "response.failed", "responses: a stream has failed");
  is([r.response.status, r.response.error?.code], ["failed", "server_error"],
    "responses: with a code");
  ok(process.env.PEN_SAYS.startsWith(R.said(r.response)),
    "responses: what was written is there");
  const whole = await refusal(R.ai.responses.create(
    { model: "demo", ...quick }));
  ok(whole instanceof OpenAI.InternalServerError,
    `responses: a whole answer fails with a status: ${whole.status}`);
  R.types.error(JSON.parse(R.wire.last().text), "responses, failed whole");

  let text = "";
  const stream = await M.ai.messages.create({ model: "demo", ...short,
    stream: true });
  const e = await refusal((async () => {
    for await (const c of stream) text += c.delta?.text ?? "";
  })());
  ok(e instanceof Anthropic.APIError, "messages: a stream throws APIError");
  is(e.type, "api_error", "messages: of type api_error");
  ok(process.env.PEN_SAYS.startsWith(text) && text !== "",
    "messages: behind what was written");
  ok(e.requestID, "messages: with the request's id");
  const last = M.wire.last().text?.split("\n\n").at(-2) ?? "";
  ok(last.startsWith("event: error\n"), "messages: an error event is the last");
  M.types.error(JSON.parse(last.split("\ndata: ")[1]), "messages, failed");
  const m = await refusal(M.ai.messages.create({ model: "demo", ...short }));
  ok(m instanceof Anthropic.InternalServerError,
    `messages: a whole answer fails with a status: ${m.status}`);
  M.types.error(JSON.parse(M.wire.last().text), "messages, failed whole");
}

const tool = (more) => ({ name: "f", description: "F", ...more });
const schema = { type: "object", properties: { city: { type: "string" } } };
const kinds = (list) => list.map((p) => p.type);

// Reasoning, text, two calls: whole, streamed and accumulated are one.
async function parts() {
  const r = await R.everyWay({ ...quick, reasoning: { effort: "high" },
    tools: [tool({ type: "function", parameters: schema, strict: false })] },
  "responses");
  is(kinds(r.response.output), ["reasoning", "message", "function_call",
    "function_call"], "responses: items in the model's order");
  const m = await M.everyWay({ ...short, max_tokens: 2000,
    thinking: { type: "adaptive" }, tools: [tool({ input_schema: schema })] },
  "messages");
  is(kinds(m.message.content), ["thinking", "text", "tool_use", "tool_use"],
    "messages: blocks in the model's order");
  is(m.message.stop_reason, "tool_use", "messages: which end for tools");
  same([R.thought(r.response), R.said(r.response),
    R.calls(r.response).map((c) => JSON.parse(c.arguments))],
  [m.message.content[0].thinking, M.said(m.message),
    M.uses(m.message).map((u) => u.input)], "both tell the same");
  is([R.said(r.response), M.uses(m.message).map((u) => u.input.city)],
    [process.env.PEN_SAYS, ["Łódź 🚀", "東京"]], "with every character");
  const results = M.uses(m.message).map((u) => ({ type: "tool_result",
    tool_use_id: u.id, content: "ok" }));
  const next = await M.whole({ ...short, max_tokens: 2000,
    thinking: { type: "adaptive" }, tools: [tool({ input_schema: schema })],
    messages: [...short.messages, { role: "assistant",
      content: m.message.content }, { role: "user", content: results }] },
  "two results");
  ok(next.usage.output_tokens > 0, "two results are taken");
}

// The daemon is told to end while both streams run (by the .t file), and its
// patience is short: each stream ends as its package reads a failure.
async function drain() {
  const stream = await M.ai.messages.create({ model: "demo", ...short,
    max_tokens: 3000, stream: true });
  const left = refusal((async () => {
    for await (const c of stream) if (c.type === "error") return c;
  })());
  const r = await R.streamed({ ...quick, max_output_tokens: 3000 },
    "responses");
  is([r.events.at(-1).type, r.response.status, r.response.error?.code],
    ["response.failed", "failed", "server_error"],
    "responses: its stream has failed");
  const e = await left;
  ok(e instanceof Anthropic.APIError, "messages: its stream throws APIError");
  is(e.type, "overloaded_error", "messages: of type overloaded_error");
}

await { heartbeats, failure, parts, drain }[process.env.PEN_SCENE]();
R.judged();
M.judged();
done();
