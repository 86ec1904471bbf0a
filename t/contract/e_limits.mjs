// E: how long an answer is, where it stops, how many there are, and whether
// they can be had again.
import { is, ok, refuses, rule, served, skip, within } from "./rules.mjs";

const story = "Tell me a long story about a fox named Ida.";
const textOf = (r) => served(r).choices[0].message.content;

// Words to cut at: the plain answer from its third character on.
async function needle(s) {
  const text = textOf(await s.plain());
  if (text.length < 12) skip("the model's answer is too short");
  return { text, stop: text.slice(6, 10), kept: text.slice(0,
    text.indexOf(text.slice(6, 10))) };
}

rule("E01", "max_tokens caps and says length", async (s) => {
  const j = served(await s.chat({ max_tokens: 3 }, story));
  within(j.usage.completion_tokens, 1, 3, "completion_tokens");
  is(j.choices[0].finish_reason, "length", "finish_reason");
});
rule("E02", "max_completion_tokens caps and says length", async (s) => {
  const j = served(await s.chat({ max_tokens: undefined,
    max_completion_tokens: 3 }, story));
  within(j.usage.completion_tokens, 1, 3, "completion_tokens");
  is(j.choices[0].finish_reason, "length", "finish_reason");
});
rule("E03", "max_tokens counts the reasoning, too", async (s) => {
  const j = served(await s.chat({ max_tokens: 2 }));
  within(j.usage.completion_tokens, 1, 2, "completion_tokens");
});
rule("E04", "max_tokens of 1 to 8 give longer and longer heads of one text",
  async (s) => {
    let before = "";
    for (let n = 1; n <= 8; n++) {
      const r = served(await s.completion({ max_tokens: n }));
      const { text } = r.choices[0];
      ok(text.startsWith(before), `${n}: not a continuation`);
      before = text;
    }
  });
rule("E05", "a stop string ends the answer before itself", async (s) => {
  const { stop, kept } = await needle(s);
  const j = served(await s.chat({ stop }));
  is(j.choices[0].message.content, kept, "content");
  is(j.choices[0].finish_reason, "stop", "finish_reason");
});
rule("E06", "the same in a list, behind one that never comes", async (s) => {
  const { stop, kept } = await needle(s);
  is(textOf(await s.chat({ stop: ["qqqq", stop] })), kept, "content");
});
rule("E07", "the same in a stream: no piece of it leaks", async (s) => {
  const { stop, kept } = await needle(s);
  const r = await s.stream({ stop: [stop] });
  is(r.content, kept, "content");
  is(r.finish, ["stop"], "finish reasons");
});
rule("E08", "a stop string that begins like the text lets it pass",
  async (s) => {
    const { stop, text } = await needle(s);
    const r = await s.stream({ stop: [`${stop.slice(0, 2)}\u2603`] });
    is(r.content, text, "content");
  });
rule("E09", "of two stop strings the earlier one counts", async (s) => {
  const { stop, kept, text } = await needle(s);
  is(textOf(await s.chat({ stop: [text.slice(8), stop] })), kept, "content");
});
rule("E10", "a stop string at the first character leaves nothing",
  async (s) => {
    const { text } = await needle(s);
    const r = await s.stream({ stop: [text[0]] });
    is(r.content, "", "content");
    is(r.finish, ["stop"], "finish reasons");
  });
rule("E11", "temperature 0 gives the same text again", async (s) =>
  is(textOf(await s.chat({})), textOf(await s.plain()), "content"));
rule("E12", "one seed gives one text", async (s) => {
  const ask = { temperature: 1, seed: 7, max_tokens: 40 };
  const [a, b] = [await s.chat(ask, story), await s.chat(ask, story)];
  is(served(a).choices, served(b).choices, "choices");
});
rule("E13", "other seeds give other texts", async (s) => {
  const texts = new Set();
  for (const seed of [1, 2, 3, 4])
    texts.add(JSON.stringify(served(await s.chat({ temperature: 1, seed,
      max_tokens: 40 }, story)).choices));
  ok(texts.size > 1, "four seeds, one text");
});
rule("E14", "a seed gives the same text beside other requests", async (s) => {
  const ask = { temperature: 1, seed: 11, max_tokens: 24 };
  const alone = served(await s.chat(ask, story)).choices;
  const all = await Promise.all([1, 2, 3].map(() => s.chat(ask, story)));
  for (const r of all) is(served(r).choices, alone, "choices");
});
rule("E15", "n 3 gives three choices, not all equal, counted together",
  async (s) => {
    const j = served(await s.chat({ n: 3, temperature: 1, seed: 7,
      max_tokens: 40 }, story));
    is(j.choices.map((c) => c.index).sort(), [0, 1, 2], "indexes");
    ok(new Set(j.choices.map((c) => JSON.stringify(c.message))).size > 1,
      "three times one text");
    ok(j.usage.completion_tokens > 40, "usage counts one choice only");
    is(j.usage.prompt_tokens + j.usage.completion_tokens,
      j.usage.total_tokens, "the sum");
  });
rule("E16", "n 3 with a seed can be had again", async (s) => {
  const ask = { n: 3, temperature: 1, seed: 7, max_tokens: 40 };
  is(served(await s.chat(ask, story)).choices,
    served(await s.chat(ask, story)).choices, "choices");
});
rule("E17", "n 2 in a stream: two choices, or a 400 that names n",
  async (s) => {
    const r = await s.stream({ n: 2, temperature: 1, max_tokens: 8 });
    if (r.status !== 200) {
      refuses(r, "n");
      return;
    }
    is([...new Set(r.choices.map((c) => c.index))].sort(), [0, 1], "indexes");
    is(r.finish.length, 2, "finish reasons");
  });
