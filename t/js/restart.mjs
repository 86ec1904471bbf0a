// Clients while the daemon goes away and comes back: every failure is an
// OpenAI error with JSON, every finished answer is counted. The .t file kills
// and starts the daemon when this program says so, and compares the ledger
// with the ids printed here.
import OpenAI from "openai";
import { client, done, ok, sleep } from "./lib/tap.mjs";

const ai = client();
const finished = [];
const odd = [];
let refused = 0;
let cut = 0;
let stop = false;

async function loop(k) {
  for (let i = 0; !stop; i++) {
    try {
      let id = null;
      let end = null;
      for await (const c of await ai.chat.completions.create({
        model: "demo", stream: true, max_tokens: 8, temperature: 0,
        messages: [{ role: "user", content: `Count from ${k} to ${i + 20}.` }],
      })) {
        id = c.id;
        end = c.choices[0]?.finish_reason ?? end;
      }
      if (end) finished.push(id);
      else cut++;
    } catch (e) {
      if (e instanceof OpenAI.APIError && e.status === 503 && e.error) refused++;
      else if (e instanceof OpenAI.APIError && e.status === undefined) cut++;
      else odd.push(`${e.status} ${e.constructor.name} ${e.message}`);
      await sleep(20);
    }
  }
}

const loops = Array.from({ length: 8 }, (_, k) => loop(k));
process.stdin.resume();
process.stdin.once("data", () => { stop = true; });
await Promise.all(loops);
ok(finished.length > 8, `answers finished (${finished.length})`);
ok(refused > 0, `while it was down clients read a JSON 503 (${refused})`);
ok(odd.length === 0, "and nothing else");
for (const o of odd.slice(0, 5)) process.stdout.write(`# ${o}\n`);
process.stdout.write(`# cut ${cut}\n`);
for (const id of finished) process.stdout.write(`# finished ${id}\n`);
done();
