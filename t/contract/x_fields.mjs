// X: fields and refusals that are Penstock's own.
import { is, isError, ok, refuses, rule, served, servedOr } from "./rules.mjs";

const user = { role: "user", content: "Hi" };
const tool = { role: "tool", tool_call_id: "call_1", content: "42" };

const refused = [
  ["X01", "a system message alone", { messages: [{ role: "system",
    content: "Be brief." }] }, "messages"],
  ["X02", "tool results alone", { messages: [tool] }, "messages"],
  ["X03", "top_k below 0", { top_k: -5 }, "top_k"],
  ["X04", "min_p above 1", { min_p: 1.5 }, "min_p"],
  ["X05", "repetition_penalty 0", { repetition_penalty: 0 },
    "repetition_penalty"],
  ["X06", "no_repeat_ngram_size 1", { no_repeat_ngram_size: 1 },
    "no_repeat_ngram_size"],
  ["X07", "top_p 0", { top_p: 0 }, "top_p"],
  ["X08", "n 17", { n: 17 }, "n"],
  ["X09", "n 2 in a stream", { n: 2, stream: true }, "n"],
  ["X10", "audio", { audio: { voice: "alloy", format: "wav" } }, "audio"],
  ["X11", "functions", { functions: [{ name: "f" }] }, "functions"],
  ["X12", "function_call", { function_call: { name: "f" } },
    "function_call"],
  ["X13", "web_search_options", { web_search_options: {} },
    "web_search_options"],
  ["X14", "verbosity", { verbosity: "low" }, "verbosity"],
  ["X15", "audio among the modalities", { modalities: ["text", "audio"] },
    "modalities"],
  ["X16", "structured_outputs of two kinds", { structured_outputs:
    { choice: ["a"], regex: "a" } }, "structured_outputs"],
  ["X17", "structured_outputs without a kind", { structured_outputs: {} },
    "structured_outputs"],
  ["X18", "an empty list of choices", { structured_outputs:
    { choice: [] } }, "structured_outputs"],
  ["X19", "a choice that is a number", { structured_outputs:
    { choice: ["a", 5] } }, "structured_outputs"],
];
for (const [id, name, extra, ...at] of refused)
  rule(id, `400 that names it: ${name}`, async (s) =>
    refuses(await s.chat(extra), ...at));

rule("X20", "400 that names it: echo, suffix, an empty prompt", async (s) => {
  refuses(await s.completion({ echo: true }), "echo");
  refuses(await s.completion({ suffix: "end" }), "suffix");
  refuses(await s.completion({ prompt: "" }), "prompt");
  refuses(await s.completion({ prompt: [] }), "prompt");
});
rule("X21", "a field that nobody knows passes", async (s) => {
  const plain = served(await s.plain());
  const other = served(await s.chat({ nobody_knows_this: { a: [1] },
    another: "x" }));
  is(other.choices, plain.choices, "choices");
});
rule("X22", "64 levels in an unknown field pass", async (s) =>
  served(await s.post("/chat/completions", JSON.stringify(
    s.ask({ max_tokens: 1, x: "DEEP" })).replace("\"DEEP\"",
    "[".repeat(64) + "]".repeat(64)))));
rule("X23", "what asks for nothing passes: audio null, functions []",
  async (s) => served(await s.chat({ max_tokens: 1, audio: null,
    functions: [], function_call: "auto", verbosity: null })));
rule("X24", "top_k 1 and min_p 1 are greedy", async (s) => {
  const plain = served(await s.completion({})).choices[0].text;
  for (const extra of [{ top_k: 1 }, { min_p: 1 }])
    is(served(await s.completion({ temperature: 1, seed: 5, ...extra }))
      .choices[0].text, plain, Object.keys(extra)[0]);
});
rule("X25", "top_k 0 and min_p 0 change nothing", async (s) => {
  const ask = { temperature: 1, seed: 5 };
  is(served(await s.completion({ ...ask, top_k: 0, min_p: 0 })).choices,
    served(await s.completion(ask)).choices, "choices");
});
rule("X26", "repetition_penalty makes a text that repeats more varied",
  async (s) => {
    const loop = { prompt: "one two one two one two one two one two",
      max_tokens: 24 };
    const [a, b] = [await s.completion(loop),
      await s.completion({ ...loop, repetition_penalty: 1.8 })];
    ok(served(a).choices[0].text !== served(b).choices[0].text,
      "the same text");
    is(served(await s.completion({ ...loop, repetition_penalty: 1 }))
      .choices[0].text, a.json.choices[0].text, "with 1");
  });
rule("X27", "structured_outputs.choice of one string forces it",
  async (s) => {
    for (const text of ["yes", "Hi 👩🏽‍🚀 żółw 漢字"]) {
      const extra = { structured_outputs: { choice: [text] },
        reasoning_effort: "none" };
      const c = served(await s.chat(extra)).choices[0];
      is([c.message.content, c.finish_reason], [text, "stop"], "plain");
      const r = await s.stream(extra);
      is([r.content, r.finish], [text, ["stop"]], "streamed");
      ok(!r.text.includes("\uFFFD"), "U+FFFD");
    }
  });
rule("X28", "structured_outputs.choice of several gives one of them",
  async (s) => {
    const choice = ["red", "green", "reddish", "漢字"];
    for (const seed of [1, 2, 3, 4]) {
      const c = served(await s.chat({ structured_outputs: { choice },
        temperature: 2, seed, reasoning_effort: "none" })).choices[0];
      ok(choice.includes(c.message.content), c.message.content);
    }
  });
rule("X29", "structured_outputs.choice works for completions", async (s) => {
  const c = served(await s.completion({ structured_outputs:
    { choice: ["The quick brown fox jumps"] } })).choices[0];
  is(c.text, "The quick brown fox jumps", "text");
});
rule("X30", "a stop string within a forced text: four times the same head",
  async (s) => {
    const extra = { structured_outputs: { choice:
      ["The quick brown fox jumps"] }, stop: ["own fox"] };
    const chat = { ...extra, reasoning_effort: "none" };
    is(served(await s.chat(chat)).choices[0].message.content,
      "The quick br", "chat");
    is((await s.stream(chat)).content, "The quick br", "chat, streamed");
    is(served(await s.completion(extra)).choices[0].text, "The quick br",
      "completion");
    ok((await s.completion({ ...extra, stream: true })).text
      .match(/"text":"([^"]*)"/g).join("").replace(/"text":|"/g, "")
      === "The quick br", "completion, streamed");
  });
rule("X31", "max_tokens within a character gives whole characters",
  async (s) => {
    const whole = "漢".repeat(64);
    for (let n = 1; n <= 6; n++) {
      const r = served(await s.chat({ structured_outputs:
        { choice: [whole] }, max_tokens: n, reasoning_effort: "none" }));
      const c = r.choices[0];
      ok(whole.startsWith(c.message.content ?? ""), c.message.content);
      is(c.finish_reason, "length", "finish_reason");
      is(r.usage.completion_tokens, n, "completion_tokens");
    }
  });
rule("X32", "a late system message is 400 naming it, or served", async (s) => {
  const r = await s.chat({ max_tokens: 1, messages: [user,
    { role: "assistant", content: "Hello" },
    { role: "system", content: "Be brief." }, user] });
  servedOr(r, () => refuses(r, "messages[2].role", "messages[2]"));
});
rule("X33", "an empty model is the default one", async (s) =>
  served(await s.chat({ model: "", max_tokens: 1 })));
rule("X34", "draft_temperature is served", async (s) =>
  is(served(await s.chat({ draft_temperature: 0.5 })).choices,
    served(await s.plain()).choices, "choices"));
rule("X35", "errors: code is null where OpenAI has none", async (s) => {
  is(isError(await s.chat({ max_tokens: 0 }), 400).code, null, "code");
  is(isError(await s.get("/no/such/route"), 404).code, null, "code");
  is(isError(await s.get("/chat/completions"), 405).code,
    "method_not_allowed", "code");
});
rule("X36", "400 that names it: two output limits that differ", async (s) =>
  refuses(await s.chat({ max_tokens: 5, max_completion_tokens: 6 }),
    "max_tokens", "max_completion_tokens"));
rule("X37", "an error is short and does not repeat what was sent",
  async (s) => {
    const secret = "zebra-4711-secret";
    const r = await s.chat({ user: secret,
      messages: [user, { role: secret, content: secret }] });
    isError(r, 400);
    ok(r.bytes.length < 1024, `${r.bytes.length} bytes`);
    ok(!r.text.includes(secret), r.text);
  });
rule("X38", "system and developer messages at the start are one prompt",
  async (s) => {
    const size = async (...first) => served(await s.chat({ max_tokens: 1,
      messages: [...first.map(([role, content]) => ({ role, content })),
        user] })).usage.prompt_tokens;
    const one = await size(["system", "Be brief. Be kind."]);
    const two = await size(["system", "Be brief."], ["developer", "Be kind."]);
    ok(Math.abs(one - two) <= 2, `${two} tokens instead of ${one}`);
  });
rule("X39", "no other field changes what a seed gives", async (s) => {
  const ask = { temperature: 1, seed: 3, max_tokens: 24 };
  const plain = served(await s.chat(ask)).choices;
  for (const extra of [{ user: "u" }, { n: 1 }, { min_p: 0 },
    { logit_bias: {} }, { presence_penalty: 0 }, { no_repeat_ngram_size: 0 }])
    is(served(await s.chat({ ...ask, ...extra })).choices, plain,
      Object.keys(extra)[0]);
});
