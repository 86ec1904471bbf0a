// The raw stream through eventsource-parser: data events alone, comment lines
// that no event comes of, whatever the pieces in which the bytes arrive; the
// same text as the official client's.
import { createParser } from "eventsource-parser";
import { EventSourceParserStream } from "eventsource-parser/stream";
import { client, collect, done, endless, is, ok, siteFetch, url }
  from "./lib/tap.mjs";

const ask = { model: "demo", stream: true, temperature: 0,
  stream_options: { include_usage: true },
  messages: [{ role: "user", content: "What is the capital of France?" }] };

function post(body, signal) {
  return siteFetch(`${url}/v1/chat/completions`, { method: "POST", signal,
    headers: { authorization: `Bearer ${process.env.PEN_KEY}`,
      "content-type": "application/json" },
    body: JSON.stringify(body) });
}

function parser() {
  const seen = { events: [], comments: [], odd: [] };
  seen.parser = createParser({
    onEvent: (e) => seen.events.push(e),
    onComment: (c) => seen.comments.push(c),
    onRetry: (r) => seen.odd.push(`retry ${r}`),
    onError: (e) => seen.odd.push(`${e.type} ${e.message}`),
  });
  return seen;
}

function read(seen, name) {
  is(seen.odd, [], `${name}: nothing that is no event`);
  ok(seen.events.every((e) => e.event === undefined && e.id === undefined),
    `${name}: data and nothing else`);
  is(seen.events.at(-1)?.data, "[DONE]", `${name}: [DONE] is the last`);
  const out = { text: "", reasoning: "", ids: new Set(), finish: [], usage: [] };
  for (const e of seen.events.slice(0, -1)) {
    const c = JSON.parse(e.data);
    out.ids.add(c.id);
    if (c.usage) out.usage.push(c.usage);
    for (const { delta, finish_reason } of c.choices) {
      out.text += delta.content ?? "";
      out.reasoning += delta.reasoning_content ?? "";
      if (finish_reason) out.finish.push(finish_reason);
    }
  }
  is(out.ids.size, 1, `${name}: one id`);
  is(out.finish, ["stop"], `${name}: one ending`);
  is(out.usage.length, 1, `${name}: usage once`);
  return out;
}

// Another stream occupies the only place: the one below waits in the queue and
// gets comment lines.
const first = new AbortController();
const busy = (await post({ ...endless, model: "demo", stream: true,
  max_tokens: 3000, reasoning_effort: "none" }, first.signal)).body.getReader();
await busy.read();
const r = await post(ask);
ok(/^text\/event-stream/.test(r.headers.get("content-type")), "an event stream");
const bytes = [];
const live = parser();
const decoder = new TextDecoder();
for await (const piece of r.body) {
  bytes.push(Buffer.from(piece));
  live.parser.feed(decoder.decode(piece, { stream: true }));
  if (live.comments.length && !first.signal.aborted) first.abort();
}
ok(/^waiting, position \d+(, about \d+ s)?, \d+ s so far$/
  .test(live.comments[0]?.trim()), "comment lines came first, as comments");
const want = await collect(await client().chat.completions.create(ask));
const got = read(live, "as it came");
is([got.text, got.reasoning], [want.text, want.reasoning],
  "the text is the official client's");

const whole = new TextDecoder().decode(Buffer.concat(bytes));
const single = parser();
for (const c of whole) single.parser.feed(c);
is(single.events.length, live.events.length, "character by character: as many");
is(read(single, "character by character").text, want.text, "and the same text");

const events = [];
const blocks = new Blob(bytes).stream().pipeThrough(new TextDecoderStream())
  .pipeThrough(new EventSourceParserStream({ onError: "terminate" }));
for await (const e of blocks) events.push(e.data);
is(events, live.events.map((e) => e.data), "as a TransformStream: the same");

const bad = await post({ ...ask, temperature: 9 });
is([bad.status, (await bad.json()).error.param], [400, "temperature"],
  "a refused stream is JSON, no event");
done();
