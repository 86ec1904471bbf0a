// C: one answer to a chat, as JSON.
import { is, ok, oneOf, rule, served, servedOr, skip, within }
  from "./rules.mjs";

rule("C01", "an answer has id, object, created, model, choices, usage",
  async (s) => {
    const j = served(await s.plain());
    ok(/^\S{8,}$/.test(j.id), "id");
    is(j.object, "chat.completion", "object");
    ok(Number.isInteger(j.created), "created");
    within(j.created, Date.now() / 1000 - 86400, Date.now() / 1000 + 86400,
      "created");
    is(typeof j.model, "string", "model");
    is(j.choices.length, 1, "choices");
    ok(j.usage, "usage");
  });
rule("C02", "its id begins with chatcmpl-", async (s) =>
  ok(/^chatcmpl-/.test(served(await s.plain()).id), "id"));
rule("C03", "a choice has index 0, message, finish_reason, logprobs null",
  async (s) => {
    const c = served(await s.plain()).choices[0];
    is(c.index, 0, "index");
    is(c.message.role, "assistant", "role");
    is(typeof c.message.content, "string", "content");
    is(c.finish_reason, "stop", "finish_reason");
    is(c.logprobs, null, "logprobs");
  });
rule("C04", "refusal is there and null", async (s) =>
  is(served(await s.plain()).choices[0].message.refusal, null, "refusal"));
rule("C05", "no tool_calls where no tools were offered", async (s) =>
  ok(!("tool_calls" in served(await s.plain()).choices[0].message),
    "tool_calls"));
rule("C06", "usage adds up, in whole numbers above 0", async (s) => {
  const u = served(await s.plain()).usage;
  for (const key of ["prompt_tokens", "completion_tokens", "total_tokens"])
    ok(Number.isInteger(u[key]) && u[key] > 0, `${key} is ${u[key]}`);
  is(u.prompt_tokens + u.completion_tokens, u.total_tokens, "the sum");
});
rule("C07", "usage tells cached and reasoning tokens within their totals",
  async (s) => {
    const u = served(await s.plain()).usage;
    within(u.prompt_tokens_details?.cached_tokens, 0, u.prompt_tokens,
      "cached_tokens");
    within(u.completion_tokens_details?.reasoning_tokens, 0,
      u.completion_tokens, "reasoning_tokens");
  });
rule("C08", "content begins with text, not with a blank line", async (s) => {
  const text = served(await s.plain()).choices[0].message.content;
  ok(/^\S/.test(text), JSON.stringify(text.slice(0, 20)));
});
rule("C09", "no control token and no broken character in content",
  async (s) => {
    const text = served(await s.plain()).choices[0].message.content;
    ok(!/<\|[^|<>]*\|>|<\/?think>|\uFFFD/.test(text), text);
  });
rule("C10", "a stop string does not change the model that is named",
  async (s) => {
    const j = served(await s.plain());
    oneOf(j.model, [s.model, served(await s.chat({ stop: "qqq" })).model],
      "model");
  });
rule("C11", "without a model the default one answers, or it is named",
  async (s) => {
    const r = await s.chat({ model: undefined, max_tokens: 2 });
    servedOr(r, () => is(r.json?.error?.param, "model", "param"));
  });
rule("C12", "system and developer messages are read", async (s) => {
  const plain = served(await s.plain()).usage.prompt_tokens;
  for (const role of ["system", "developer"]) {
    const r = served(await s.chat({ max_tokens: 2, messages: [
      { role, content: "You are a pirate. ".repeat(10) },
      { role: "user", content: "What is the capital of France?" }] }));
    ok(r.usage.prompt_tokens > plain + 10, `${role}: not in the prompt`);
  }
});
rule("C13", "text parts are the same prompt as their text", async (s) => {
  const parts = [{ type: "text", text: "What is the capital" },
    { type: "text", text: " of France?" }];
  const r = served(await s.chat({ max_tokens: 2,
    messages: [{ role: "user", content: parts }] }));
  within(r.usage.prompt_tokens, 1,
    served(await s.plain()).usage.prompt_tokens + 2, "prompt_tokens");
});
rule("C14", "a character outside of ASCII comes back whole", async (s) => {
  const r = served(await s.chat({ max_tokens: 96 },
    "Repeat: 漢字 żółw 👩🏽‍🚀"));
  ok(!/\uFFFD/.test(r.choices[0].message.content), "U+FFFD");
});
rule("C15", "the reply is of the same conversation: an answer can be sent back",
  async (s) => {
    const m = served(await s.plain()).choices[0].message;
    const r = served(await s.chat({ max_tokens: 2, messages: [
      { role: "user", content: "What is the capital of France?" }, m,
      { role: "user", content: "And of Italy?" }] }));
    if (!m.content) skip("the model said nothing");
    ok(r.usage.prompt_tokens > served(await s.plain()).usage.prompt_tokens,
      "the answer is not in the prompt");
  });
