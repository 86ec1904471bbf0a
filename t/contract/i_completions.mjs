// I: /completions.
import { is, isError, ok, refuses, rule, served, servedOr, skip, within }
  from "./rules.mjs";
import { events } from "./site.mjs";

const plain = (s) => s.once("completion", () => s.completion({}));
const stream = async (s, extra) =>
  events(await s.completion({ stream: true, ...extra }));

rule("I01", "an answer has id, object, created, model, choices, usage",
  async (s) => {
    const j = served(await plain(s));
    ok(/^cmpl-/.test(j.id), "id");
    is(j.object, "text_completion", "object");
    ok(j.created && j.model, "created, model");
    const [c] = j.choices;
    is([c.index, c.finish_reason, c.logprobs], [0, "length", null], "choice");
    is(typeof c.text, "string", "text");
    is(j.usage.prompt_tokens + j.usage.completion_tokens,
      j.usage.total_tokens, "usage");
  });
rule("I02", "max_tokens caps", async (s) =>
  is(served(await plain(s)).usage.completion_tokens, 12,
    "completion_tokens"));
rule("I03", "a prompt of one string in a list is that string", async (s) =>
  is(served(await s.completion({ prompt: ["The capital of France is"] }))
    .choices, served(await plain(s)).choices, "choices"));
rule("I04", "a list of strings: a choice each, in order", async (s) => {
  const j = served(await s.completion({ prompt: ["Once upon a time",
    "The capital of France is"] }));
  is(j.choices.map((c) => c.index), [0, 1], "indexes");
  is(j.choices[1].text, served(await plain(s)).choices[0].text, "text");
});
rule("I05", "a list of token ids", async (s) => {
  const j = served(await s.completion({ prompt: [100, 101, 102] }));
  within(j.usage.prompt_tokens, 3, 4, "prompt_tokens");
});
rule("I06", "a list of lists of token ids", async (s) => {
  const j = served(await s.completion({ prompt: [[100, 101], [102, 103]] }));
  is(j.choices.length, 2, "choices");
});
rule("I07", "n 2: two choices", async (s) => {
  const j = served(await s.completion({ n: 2, temperature: 1, seed: 3 }));
  is(j.choices.map((c) => c.index), [0, 1], "indexes");
});
rule("I08", "best_of 1, and best_of as large as n, are served", async (s) => {
  served(await s.completion({ best_of: 1, max_tokens: 1 }));
  served(await s.completion({ n: 2, best_of: 2, max_tokens: 1 }));
});
rule("I09", "echo false and suffix null are served", async (s) =>
  is(served(await s.completion({ echo: false, suffix: null })).choices,
    served(await plain(s)).choices, "choices"));
rule("I10", "an empty prompt is 400 naming prompt, or is served as OpenAI does",
  async (s) => {
    const r = await s.completion({ prompt: [], max_tokens: 1 });
    servedOr(r, () => refuses(r, "prompt"));
  });
const bad = [
  ["I11", "prompt that is a number", { prompt: 5 }, "prompt"],
  ["I12", "prompt with an object in it", { prompt: [{}] }, "prompt"],
  ["I13", "prompt of strings and ids mixed", { prompt: ["a", 5] }, "prompt"],
  ["I14", "a token id outside the vocabulary", { prompt: [999999999] },
    "prompt"],
  ["I15", "a token id below 0", { prompt: [-1] }, "prompt"],
  ["I16", "logprobs above 5", { logprobs: 6 }, "logprobs"],
  ["I17", "logprobs that is true", { logprobs: true }, "logprobs"],
  ["I18", "best_of below n", { n: 3, best_of: 2 }, "best_of"],
  ["I19", "max_tokens below 0", { max_tokens: -1 }, "max_tokens"],
  ["I20", "logit_bias above 100", { logit_bias: { 5: 101 } }, "logit_bias"],
];
for (const [id, name, extra, ...at] of bad)
  rule(id, `400 that names it: ${name}`, async (s) =>
    refuses(await s.completion(extra), ...at));

rule("I21", "a stream's pieces are the text; one finish_reason; [DONE]",
  async (s) => {
    const r = await stream(s, {});
    is(r.content, served(await plain(s)).choices[0].text, "text");
    is(r.finish, ["length"], "finish reasons");
    is([r.done, r.after], [1, 0], "[DONE]");
  });
rule("I22", "its chunks are text_completion objects with one id",
  async (s) => {
    const { chunks } = await stream(s, {});
    is([...new Set(chunks.map((c) => c.object))], ["text_completion"],
      "object");
    is(new Set(chunks.map((c) => c.id)).size, 1, "ids");
  });
rule("I23", "include_usage true: one usage chunk, last", async (s) => {
  const r = await stream(s, { stream_options: { include_usage: true } });
  is(r.usage.length, 1, "chunks with usage");
  is(r.usage[0].choices, [], "choices");
  ok(r.chunks.at(-1) === r.usage[0], "not the last");
});
rule("I24", "a stop string ends the text before itself, streamed and not",
  async (s) => {
    const { text } = served(await plain(s)).choices[0];
    const stop = text.slice(5, 8);
    const kept = text.slice(0, text.indexOf(stop));
    const c = served(await s.completion({ stop })).choices[0];
    is([c.text, c.finish_reason], [kept, "stop"], "plain");
    const r = await stream(s, { stop: [stop] });
    is([r.content, r.finish], [kept, ["stop"]], "streamed");
  });
rule("I25", "a prompt over the context is context_length_exceeded",
  async (s) => {
    const r = await s.overflow((prompt) => s.completion({ prompt,
      max_tokens: 1 }));
    if (r.status === 413) skip("the body is too large first");
    is(isError(r, 400).code, "context_length_exceeded", "code");
  });
rule("I26", "the prompt must be there", async (s) => {
  const r = await s.completion({ prompt: undefined });
  servedOr(r, () => refuses(r, "prompt"));
});
