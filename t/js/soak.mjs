// PEN_REQUESTS requests, 16 at a time: short and long, streamed and not, every
// fifth client leaves early. Prints a line "# at N" each 500 for the .t file.
import { client, collect, done, is, ok } from "./lib/tap.mjs";

const ai = client();
const total = Number(process.env.PEN_REQUESTS ?? 2000);
let next = 0;
const odd = [];
let left = 0;

async function one(i) {
  const body = {
    model: "demo", temperature: i % 3 ? 1 : 0, seed: i, max_tokens: 4 + (i % 24),
    reasoning_effort: "none",
    messages: [{ role: "user", content: `Repeat after me: ${"the cat ".repeat(i % 40)}` }],
  };
  if (i % 5 === 4) {
    const ctl = new AbortController();
    const stream = await ai.chat.completions.create({ ...body, stream: true, max_tokens: 400 },
      { signal: ctl.signal });
    try {
      for await (const c of stream) if (c.choices[0]?.delta.content) ctl.abort();
    } catch { /* the abort */ }
    left++;
  } else if (i % 2) {
    const s = await collect(await ai.chat.completions.create({ ...body, stream: true }));
    if (s.finish.length !== 1) odd.push(`${i}: ${s.finish.length} endings`);
  } else {
    const r = await ai.chat.completions.create(body);
    if (!r.choices[0].finish_reason) odd.push(`${i}: no ending`);
  }
}

async function loop() {
  while (next < total) {
    const i = next++;
    if (i % 500 === 0) process.stdout.write(`# at ${i}\n`);
    try {
      await one(i);
    } catch (e) {
      if (e?.name !== "APIUserAbortError") odd.push(`${i}: ${e}`);
    }
  }
}
await Promise.all(Array.from({ length: 16 }, loop));
is(odd.slice(0, 3), [], "every request got its answer");
ok(left > 0, `clients left (${left})`);
done();
