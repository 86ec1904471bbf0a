// F: temperature, penalties and biases do what they say.
import { is, ok, rule, served } from "./rules.mjs";

const loop = { prompt: "one two one two one two one two one two one two",
  max_tokens: 32 };
const textOf = (r) => served(r).choices[0].text;

// How many different words a text has.
const kinds = (text) => new Set(text.split(/\s+/)).size;

rule("F01", "top_p next to 0 is greedy", async (s) =>
  is(textOf(await s.completion({ temperature: 1, top_p: 1e-6 })),
    textOf(await s.completion({})), "text"));
rule("F02", "temperature 2 is another text than temperature 0", async (s) => {
  const plain = textOf(await s.completion({ max_tokens: 24 }));
  for (const seed of [1, 2, 3])
    if (textOf(await s.completion({ max_tokens: 24, temperature: 2, seed }))
        !== plain) return;
  ok(false, "three times the greedy text");
});
rule("F03", "penalties of 0 change nothing", async (s) =>
  is(textOf(await s.completion({ ...loop, presence_penalty: 0,
    frequency_penalty: 0 })), textOf(await s.completion(loop)), "text"));
for (const [id, field] of [["F04", "frequency_penalty"],
  ["F05", "presence_penalty"]])
  rule(id, `${field} 2 makes a text that repeats more varied`, async (s) => {
    const plain = textOf(await s.completion(loop));
    const other = textOf(await s.completion({ ...loop, [field]: 2 }));
    ok(other !== plain, "the same text");
    ok(kinds(other) >= kinds(plain),
      `${kinds(other)} words instead of ${kinds(plain)}`);
  });
rule("F06", "frequency_penalty -2 is served", async (s) => {
  served(await s.completion({ ...loop, frequency_penalty: -2 }));
});
rule("F07", "logit_bias 100 forces its token", async (s) => {
  const texts = new Set();
  for (const id of [1000, 1001, 1002]) {
    const r = await s.completion({ max_tokens: 4, logit_bias: { [id]: 100 } });
    texts.add(textOf(r));
  }
  const plain = textOf(await s.completion({ max_tokens: 4 }));
  ok(!texts.has(plain) && texts.size > 1, JSON.stringify([...texts]));
});
rule("F08", "logit_bias {} and zeros change nothing", async (s) => {
  const plain = textOf(await s.completion({}));
  is(textOf(await s.completion({ logit_bias: {} })), plain, "{}");
  is(textOf(await s.completion({ logit_bias: { 5: 0, 6: 0 } })), plain,
    "zeros");
});
rule("F09", "the edges of each range are served", async (s) => {
  for (const extra of [{ presence_penalty: 2 }, { presence_penalty: -2 },
    { frequency_penalty: 2 }, { frequency_penalty: -2 },
    { temperature: 2, top_p: 1 }, { logit_bias: { 5: 100, 6: -100 } }])
    served(await s.completion({ max_tokens: 1, ...extra }));
});
