// C07: comment lines before and between events do not trouble the client.
import { client, collect, done, is, ok } from "./lib/tap.mjs";

const ask = { model: "demo", stream: true, max_tokens: 10,
  reasoning_effort: "none", messages: [{ role: "user", content: "hi" }] };
const s = await collect(await client().chat.completions.create(ask));
is(s.text, "one two three four five six seven eight nine ten".slice(0, s.text.length),
  "the text is whole");
ok(s.text.length > 10, "and there is some");
is(s.finish.length, 1, "with one ending");
done();
