// The fields of the official client beyond the text: log-probabilities, n,
// seed, stop, limits, usage, choices of texts, forms of reasoning.
import OpenAI from "openai";
import { client, done, is, ok, refusal } from "./lib/tap.mjs";

const ai = client();
const messages = [{ role: "user", content: "What is the capital of France?" }];
const ask = { model: "demo", messages, temperature: 0,
  reasoning_effort: "none" };
const plain = await ai.chat.completions.create(ask);
const content = plain.choices[0].message.content;
is(plain.choices[0].logprobs, null, "no logprobs unless asked");

// --- log-probabilities -------------------------------------------------------
function looksRight(entries, top, name) {
  ok(entries.every((e) => e.logprob <= 0 && e.top_logprobs.length === top),
    `${name}: of every token, with ${top} alternatives`);
  ok(entries.every((e) => e.top_logprobs.every((t, i, l) => t.logprob <= 0
    && (i === 0 || t.logprob <= l[i - 1].logprob))), `${name}: best first`);
  is(Buffer.concat(entries.map((e) => Buffer.from(e.bytes))).toString(),
    content, `${name}: their bytes are the content`);
}
const withLogprobs = { ...ask, logprobs: true, top_logprobs: 3 };
const p = await ai.chat.completions.create(withLogprobs);
is(p.choices[0].message.content, content, "logprobs change no text");
const entries = p.choices[0].logprobs.content;
looksRight(entries, 3, "logprobs");
ok(entries.every((e) => e.top_logprobs[0].token === e.token),
  "at temperature 0 the best is taken");
const joined = await ai.chat.completions.stream(withLogprobs)
  .finalChatCompletion();
is(joined.choices[0].logprobs.content, entries,
  "the client's own joining of the stream has the same");
looksRight((await ai.chat.completions.create({ ...ask, logprobs: true }))
  .choices[0].logprobs.content, 0, "without top_logprobs");
const text = await ai.completions.create({ model: "demo", temperature: 0,
  prompt: "Once upon a time", max_tokens: 5, logprobs: 2 });
const l = text.choices[0].logprobs;
is([l.tokens.length, l.token_logprobs.length, l.top_logprobs.length,
  l.text_offset.length], [5, 5, 5, 5], "completions have their own shape");
is(l.tokens.join(""), text.choices[0].text, "of the same text");

// --- several answers, seeds, limits ------------------------------------------
const story = { ...ask, temperature: 1, seed: 7, max_completion_tokens: 12,
  messages: [{ role: "user", content: "Tell me a story about a cat." }] };
const several = await ai.chat.completions.create({ ...story, n: 3 });
is(several.choices.map((c) => c.index), [0, 1, 2], "n answers, numbered");
ok(new Set(several.choices.map((c) => c.message.content)).size > 1,
  "that differ");
const again = await ai.chat.completions.create({ ...story, n: 3 });
is(again.choices.map((c) => c.message.content),
  several.choices.map((c) => c.message.content), "the same for the same seed");
is(several.usage.completion_tokens <= 36
  && several.usage.prompt_tokens > 0, true, "usage counts them all");
const one = await ai.chat.completions.create({ ...ask,
  max_completion_tokens: 3 });
is([one.usage.completion_tokens, one.choices[0].finish_reason],
  [3, "length"], "max_completion_tokens is kept");
const cut = content.split(" ")[2];
const stopped = await ai.chat.completions.create({ ...ask,
  stop: ["nowhere", cut] });
is([stopped.choices[0].message.content, stopped.choices[0].finish_reason],
  [content.slice(0, content.indexOf(cut)), "stop"],
  "stop ends the text in front of it");

const chunks = [];
for await (const c of await ai.chat.completions.create({ ...ask, stream: true,
  stream_options: { include_usage: true } })) chunks.push(c);
is(chunks.at(-1).choices, [], "include_usage: a last chunk without choices");
is(chunks.at(-1).usage.total_tokens, plain.usage.total_tokens, "has the usage");
ok(chunks.slice(0, -1).every((c) => c.usage === null), "the others say null");
is([...new Set(chunks.map((c) => c.id))].length, 1, "all of one id");

// --- what the server adds ----------------------------------------------------
const texts = ['{"city": "Rome"}', '{"city": "Paris"}'];
const chosen = await ai.chat.completions.create({ ...ask,
  structured_outputs: { choice: texts } });
ok(texts.includes(chosen.choices[0].message.content), "one of the choices");
ok(JSON.parse(chosen.choices[0].message.content).city, "which is JSON here");
const thinking = { ...ask, reasoning_effort: "high" };
const apart = (await ai.chat.completions.create(thinking)).choices[0].message;
ok(apart.reasoning_content && !/think>/.test(apart.content),
  "reasoning comes apart");
const tags = (await ai.chat.completions.create({ ...thinking,
  reasoning_format: "tags" })).choices[0].message;
ok(tags.content.startsWith("<think>\n")
  && tags.content.endsWith(`</think>\n\n${apart.content}`)
  && !tags.reasoning_content, "or in tags, when asked");

// --- refusals ----------------------------------------------------------------
for (const [fields, param] of [
  [{ top_logprobs: 3 }, "top_logprobs"],
  [{ logprobs: true, top_logprobs: 21 }, "top_logprobs"],
  [{ n: 0 }, "n"],
  [{ n: 17 }, "n"],
  [{ presence_penalty: 3 }, "presence_penalty"],
  [{ logit_bias: { 5: 101 } }, "logit_bias"],
  [{ logit_bias: { 99999999: 1 } }, "logit_bias"],
  [{ reasoning_effort: "huge" }, "reasoning_effort"],
  [{ stop: [1] }, "stop"],
  [{ structured_outputs: { choice: [] } }, "structured_outputs.choice"],
]) {
  const e = await refusal(ai.chat.completions.create({ ...ask, ...fields }));
  ok(e instanceof OpenAI.BadRequestError && e.param?.startsWith(param)
    && e.message.includes(param) && e.type === "invalid_request_error",
  `${JSON.stringify(fields)} is refused by name`);
}
done();
