// X: reasoning: its forms, its fields, its limits.
import { is, ok, refuses, rule, served, skip } from "./rules.mjs";

const message = (r) => served(r).choices[0].message;
const on = { reasoning_effort: "high" };

// The plain answer with its reasoning apart; skipped where a model has none.
const apart = (s) => s.once("apart", async () => {
  const m = message(await s.chat({ ...on,
    reasoning_format: "reasoning_content" }));
  return m.reasoning_content ? m : null;
});
async function thought(s) {
  return (await apart(s)) ?? skip("the model does not reason");
}

rule("X50", "reasoning_content: apart, without tags, content begins with text",
  async (s) => {
    const m = await thought(s);
    ok(!/<\/?think>/.test(m.reasoning_content + m.content), "a tag");
    ok(/^\S/.test(m.content), JSON.stringify(m.content.slice(0, 9)));
  });
rule("X51", "reasoning_content in a stream: the same two texts", async (s) => {
  const m = await thought(s);
  const r = await s.stream({ ...on, reasoning_format: "reasoning_content" });
  is([r.reasoning, r.content], [m.reasoning_content, m.content], "texts");
  const last = r.choices.findLastIndex((c) => c.delta.reasoning_content);
  const first = r.choices.findIndex((c) => c.delta.content);
  ok(last < first, "reasoning after the answer began");
});
rule("X52", "tags: <think>, the reasoning, </think>, the answer", async (s) => {
  const m = await thought(s);
  const tags = message(await s.chat({ ...on, reasoning_format: "tags" }));
  ok(!("reasoning_content" in tags), "reasoning_content");
  ok(tags.content.startsWith("<think>\n"), "no opener");
  const [inner, ...rest] = tags.content.slice(8).split("</think>");
  is([inner.trim(), rest.join("</think>").trim()],
    [m.reasoning_content.trim(), m.content.trim()], "parts");
});
rule("X53", "tags in a stream: the same content", async (s) => {
  await thought(s);
  const r = await s.stream({ ...on, reasoning_format: "tags" });
  is(r.content, message(await s.chat({ ...on, reasoning_format: "tags" }))
    .content, "content");
  is(r.reasoning, "", "reasoning_content");
  ok(r.choices.find((c) => c.delta.content).delta.content
    .startsWith("<think>\n"), "the first piece is not the opener with text");
});
rule("X54", "both: the field, and content as with tags", async (s) => {
  const m = await thought(s);
  const tags = message(await s.chat({ ...on, reasoning_format: "tags" }));
  const both = { ...on, reasoning_format: "both" };
  const plain = message(await s.chat(both));
  is([plain.reasoning_content.trim(), plain.content],
    [m.reasoning_content.trim(), tags.content], "plain");
  const r = await s.stream(both);
  is([r.reasoning, r.content], [plain.reasoning_content, plain.content],
    "streamed");
});
rule("X55", "a reasoning_format that does not exist is 400", async (s) => {
  refuses(await s.chat({ reasoning_format: "morse" }), "reasoning_format");
  refuses(await s.chat({ reasoning_format: 5 }), "reasoning_format");
});
rule("X56", "reasoning_tokens tells the reasoning, 0 without", async (s) => {
  await thought(s);
  const used = (r) => served(r).usage.completion_tokens_details
    .reasoning_tokens;
  ok(used(await s.chat(on)) > 0, "0 with reasoning");
  is(used(await s.chat({ reasoning_effort: "none" })), 0, "without");
});

const off = [{ reasoning_effort: "none" }, { reasoning_effort: "minimal" },
  { reasoning_effort: "off" }, { thinking_effort: "none" },
  { thinking: false }, { thinking: { type: "disabled" } },
  { enable_thinking: false }, { reasoning: { enabled: false } },
  { reasoning: { effort: "none" } }, { think: false },
  { chat_template_kwargs: { enable_thinking: false } }];
off.forEach((extra, i) =>
  rule(`X${60 + i}`, `no reasoning with ${JSON.stringify(extra)}`,
    async (s) => {
      const m = message(await s.chat({
        reasoning_format: "reasoning_content", ...extra }));
      ok(!m.reasoning_content, "reasoning_content");
      ok(/^\S/.test(m.content), JSON.stringify(m.content));
      const tags = message(await s.chat({ ...extra,
        reasoning_format: "tags" }));
      is(tags.content, m.content, "content with tags");
    }));
rule("X72", "kwargs' enable_thinking false beats a top-level true",
  async (s) => ok(!message(await s.chat({ enable_thinking: true,
    reasoning_format: "reasoning_content",
    chat_template_kwargs: { enable_thinking: false } })).reasoning_content,
  "reasoning_content"));

// [what a budget of N looks like, the field that a fault is told of]
const budgets = [
  [(n) => ({ max_reasoning_tokens: n }), "max_reasoning_tokens"],
  [(n) => ({ thinking_budget: n }), "thinking_budget"],
  [(n) => ({ thinking_token_budget: n }), "thinking_token_budget"],
  [(n) => ({ thinking: { type: "enabled", budget_tokens: n } }),
    "thinking.budget_tokens"],
  [(n) => ({ reasoning: { max_tokens: n } }), "reasoning.max_tokens"],
  [(n) => ({ chat_template_kwargs: { thinking_budget: n } }),
    "chat_template_kwargs.thinking_budget"],
  [(n) => ({ reasoning_budget: n }), "reasoning_budget"],
  [(n) => ({ reasoning_budget_tokens: n }), "reasoning_budget_tokens"],
  [(n) => ({ generation_config: { thinking_config: {
    thinking_budget: n } } }),
  "generation_config.thinking_config.thinking_budget"],
  [(n) => ({ extra_body: { google: { thinking_config: {
    thinking_budget: n } } } }),
  "extra_body.google.thinking_config.thinking_budget"],
];
budgets.forEach(([make, field], i) => {
  rule(`X${73 + i}`, `${field} 3 ends the reasoning early, then an answer`,
    async (s) => {
      const m = await thought(s);
      const short = message(await s.chat({ ...make(3),
        reasoning_format: "reasoning_content" }));
      const head = short.reasoning_content.slice(0, 4);
      ok(m.reasoning_content.startsWith(head), "another reasoning");
      ok(short.reasoning_content !== m.reasoning_content, "not cut");
      ok(/^\S/.test(short.content), "no answer");
    });
  rule(`X${83 + i}`, `400 that names it: ${field} below 0, or text`,
    async (s) => {
      refuses(await s.chat(make(-1)), field);
      refuses(await s.chat(make("many")), field);
    });
});
rule("X93", "a budget of 0 is no cap", async (s) => {
  const m = await thought(s);
  for (const [make, field] of budgets)
    is(message(await s.chat({ ...make(0),
      reasoning_format: "reasoning_content" })).reasoning_content,
    m.reasoning_content, field);
});
rule("X94", "an effort word that does not exist is 400 that names its field",
  async (s) => {
    refuses(await s.chat({ thinking_effort: "banana" }), "thinking_effort");
    refuses(await s.chat({ reasoning: { effort: "banana" } }),
      "reasoning.effort");
    refuses(await s.chat({ chat_template_kwargs:
      { reasoning_effort: "banana" } }),
    "chat_template_kwargs.reasoning_effort");
    refuses(await s.chat({ think: "banana" }), "think");
  });
rule("X95", "a number beats a word", async (s) => {
  const cut = async (extra) => message(await s.chat({ ...extra,
    reasoning_format: "reasoning_content" })).reasoning_content;
  await thought(s);
  is(await cut({ reasoning_effort: "high", thinking_budget: 3 }),
    await cut({ thinking_budget: 3 }), "reasoning");
});
rule("X96", "reasoning that never closed is all in its field", async (s) => {
  await thought(s);
  const extra = { ...on, max_tokens: 2, thinking_budget: 0,
    reasoning_format: "reasoning_content" };
  const c = served(await s.chat(extra)).choices[0];
  const r = await s.stream(extra);
  is([r.reasoning, r.content, r.finish], [c.message.reasoning_content ?? "",
    c.message.content ?? "", [c.finish_reason]], "streamed and not");
  is(c.finish_reason, "length", "finish_reason");
});
rule("X97", "reasoning_content in the history is accepted", async (s) =>
  served(await s.chat({ max_tokens: 2, messages: [
    { role: "user", content: "Hi" },
    { role: "assistant", reasoning_content: "They greet.",
      content: "Hello" }, { role: "user", content: "And?" }] })));
