// G: log-probabilities of both wires.
import { is, ok, rule, served, within } from "./rules.mjs";

const asked = { logprobs: true, top_logprobs: 3, max_tokens: 48 };
const key = (e) => [e.token, e.logprob.toFixed(3),
  e.top_logprobs.map((t) => [t.token, t.logprob.toFixed(3)])];
const list = (s) => s.once("logprobs", async () =>
  served(await s.chat({ ...asked, max_tokens: 512 })).choices[0]);

function isEntry(e) {
  is(typeof e.token, "string", "token");
  within(e.logprob, -10000, 0.000001, "logprob");
  ok(e.bytes === null || Array.isArray(e.bytes), "bytes");
}

rule("G01", "logprobs true: an entry with token, logprob, bytes per token",
  async (s) => {
    const c = await list(s);
    ok(Array.isArray(c.logprobs?.content), "no logprobs.content");
    ok(c.logprobs.content.length > 1, "no entries");
    c.logprobs.content.forEach(isEntry);
  });
rule("G02", "refusal is null beside content", async (s) =>
  is((await list(s)).logprobs.refusal, null, "refusal"));
rule("G03", "the bytes joined are the content", async (s) => {
  const c = await list(s);
  const bytes = c.logprobs.content.flatMap((e) => e.bytes);
  is(Buffer.from(bytes).toString("utf8").trim(), c.message.content.trim(),
    "text");
});
rule("G04", "top_logprobs 3: three alternatives, best first", async (s) => {
  for (const e of (await list(s)).logprobs.content) {
    is(e.top_logprobs.length, 3, "alternatives");
    e.top_logprobs.forEach(isEntry);
    const all = e.top_logprobs.map((t) => t.logprob);
    is(all, [...all].sort((a, b) => b - a), "order");
  }
});
rule("G05", "at temperature 0 the token is its own best alternative",
  async (s) => {
    for (const e of (await list(s)).logprobs.content)
      is(e.top_logprobs[0].token, e.token, "best");
  });
rule("G06", "a token has one value, also among its alternatives",
  async (s) => {
    for (const e of (await list(s)).logprobs.content)
      within(e.top_logprobs[0].logprob - e.logprob, -0.001, 0.001,
        "difference");
  });
rule("G07", "logprobs true alone, or with 0: no alternatives", async (s) => {
  for (const extra of [{}, { top_logprobs: 0 }]) {
    const c = served(await s.chat({ logprobs: true, ...extra })).choices[0];
    ok(c.logprobs.content.length, "no entries");
    for (const e of c.logprobs.content)
      is(e.top_logprobs, [], "top_logprobs");
  }
});
rule("G08", "asking changes no token", async (s) =>
  is((await list(s)).message.content,
    served(await s.plain()).choices[0].message.content, "content"));
rule("G09", "the stream's entries are those of the plain answer", async (s) => {
  const r = await s.stream({ ...asked, max_tokens: 512 });
  const got = r.choices.flatMap((c) => c.logprobs?.content ?? []);
  is(got.map(key), (await list(s)).logprobs.content.map(key), "entries");
});
rule("G10", "20 alternatives are served", async (s) => {
  const c = served(await s.chat({ logprobs: true, top_logprobs: 20,
    max_tokens: 64 })).choices[0];
  for (const e of c.logprobs.content)
    is(e.top_logprobs.length, 20, "alternatives");
});
rule("G11", "logprobs false is null", async (s) =>
  is(served(await s.chat({ logprobs: false, max_tokens: 2 })).choices[0]
    .logprobs, null, "logprobs"));
rule("G12", "completions: four lists of one length", async (s) => {
  const c = served(await s.completion({ logprobs: 2 })).choices[0];
  const l = c.logprobs;
  for (const name of ["tokens", "token_logprobs", "top_logprobs",
    "text_offset"])
    is(l?.[name]?.length, l?.tokens?.length, name);
  ok(l.tokens.length > 1, "no entries");
  for (const v of l.token_logprobs) within(v, -10000, 0.000001, "logprob");
});
rule("G13", "completions: the tokens joined are the text", async (s) => {
  const c = served(await s.completion({ logprobs: 0 })).choices[0];
  is(c.logprobs.tokens.join(""), c.text, "text");
});
rule("G14", "completions: 2 alternatives as an object, the token's among them",
  async (s) => {
    const { logprobs: l } = served(await s.completion({ logprobs: 2 }))
      .choices[0];
    l.tokens.forEach((token, i) => {
      const all = l.top_logprobs[i];
      within(Object.keys(all).length, 1, 3, "alternatives");
      ok(token in all, "the token itself is not there");
    });
  });
rule("G15", "completions: text_offset grows by the text before", async (s) => {
  const { logprobs: l } = served(await s.completion({ logprobs: 1 }))
    .choices[0];
  let sum = 0;
  l.tokens.forEach((token, i) => {
    is(l.text_offset[i] - l.text_offset[0], sum, `offset ${i}`);
    sum += [...token].length;
  });
});
