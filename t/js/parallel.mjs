// Load changes no text: 32 streams at once equal the same requests alone, and
// they really shared steps.
import { client, collect, done, get, is, ok, until } from "./lib/tap.mjs";

const ai = client();
const topics = ["fox named Ida", "cat named Tom", "boat", "king", "red bird",
  "dog named Max", "girl named Mia", "tree"];
const requests = Array.from({ length: 32 }, (_, i) => ({
  model: "demo", stream: true, max_tokens: 24 + (i % 5),
  temperature: i % 2 ? 0.9 : 0, seed: 100 + i,
  messages: [{ role: "user",
    content: `Tell me a long story about a ${topics[i % 8]}.` }],
}));

const alone = [];
for (const r of requests)
  alone.push((await collect(await ai.chat.completions.create(r))).text);

// Whether two of them meet in a step is the machine's to say: until they did.
let shared = 1, rounds = 0, equal = 0;
while (shared < 2 && rounds < 20) {
  const together = await Promise.all(requests.map(async (r) =>
    (await collect(await ai.chat.completions.create(r))).text));
  rounds++;
  for (let i = 0; i < 32; i++) equal += together[i] === alone[i];
  shared = (await get("/health")).json.steps.decode_rows_max;
}
is(equal, 32 * rounds,
  "32 parallel streams are byte-equal to the same ones alone");
ok(new Set(alone).size > 8, "the texts differ from each other");
ok(shared > 1, `sequences shared steps (up to ${shared})`);

// An abort in mid-stream frees the engine within a step.
const ctl = new AbortController();
const stream = await ai.chat.completions.create(
  { ...requests[0], max_tokens: 3000, seed: 1, temperature: 1.9,
    messages: [{ role: "user", content: "Tell me a long story about a king." }] },
  { signal: ctl.signal });
let chunks = 0;
try {
  for await (const c of stream) if (++chunks === 5) ctl.abort();
} catch {
  // the abort itself
}
ok(chunks >= 5, "a stream ran");
const h = await until(async () => {
  const j = (await get("/health")).json;
  return j.running === 0 && j;
}, 2000);
ok(h, "and after its abort nothing runs");
const before = h.steps.tokens_out;
is((await get("/health")).json.steps.tokens_out, before,
  "no token is made for nobody");
done();
