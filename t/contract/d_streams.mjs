// D: a chat's stream: its lines, their order, and what they add up to.
import { is, ok, oneOf, refuses, rule, served } from "./rules.mjs";

rule("D01", "a stream is text/event-stream, not to be cached", async (s) => {
  const r = await s.plainStream();
  served(r);
  ok(/^text\/event-stream/.test(r.type), r.type);
  ok(/no-cache|no-store/.test(r.headers.get("cache-control") ?? ""),
    `cache-control: ${r.headers.get("cache-control")}`);
});
rule("D02", "its lines are data:, comments, and empty ones", async (s) => {
  const { lines } = await s.plainStream();
  const odd = lines.find((l) => !/^$|^data: |^:/.test(l));
  is(odd, undefined, "another line");
});
rule("D03", "an empty line ends each event", async (s) => {
  const { text } = await s.plainStream();
  ok(/\n\n$/.test(text), "the last event is open");
  ok(!/\ndata: .*\ndata: /.test(text), "two lines in one event");
});
rule("D04", "[DONE] comes once, at the end", async (s) => {
  const r = await s.plainStream();
  is(r.done, 1, "[DONE]");
  is(r.after, 0, "events after it");
});
rule("D05", "each chunk is a chat.completion.chunk with id, created, model",
  async (s) => {
    for (const c of (await s.plainStream()).chunks) {
      is(c.object, "chat.completion.chunk", "object");
      ok(c.id && c.created && c.model, "a key is missing");
      ok(Array.isArray(c.choices), "choices");
    }
  });
rule("D06", "all chunks have one id, one created, one model", async (s) => {
  const { chunks } = await s.plainStream();
  for (const key of ["id", "created", "model"])
    is(new Set(chunks.map((c) => c[key])).size, 1, key);
});
rule("D07", "the role comes first, and once", async (s) => {
  const { choices } = await s.plainStream();
  is(choices[0].delta.role, "assistant", "first delta");
  is(choices.filter((c) => "role" in c.delta).length, 1, "deltas with a role");
});
rule("D08", "each choice of a chunk has index 0, delta, finish_reason",
  async (s) => {
    for (const c of (await s.plainStream()).choices) {
      is(c.index, 0, "index");
      ok(c.delta && typeof c.delta === "object", "delta");
      ok("finish_reason" in c, "finish_reason is missing");
    }
  });
rule("D09", "one finish_reason, in the last chunk that has a choice",
  async (s) => {
    const { finish, choices } = await s.plainStream();
    is(finish, ["stop"], "finish reasons");
    ok(choices.at(-1).finish_reason, "text after it");
  });
rule("D10", "the pieces are the text of the plain answer", async (s) => {
  const plain = served(await s.plain()).choices[0].message;
  is((await s.plainStream()).content, plain.content, "content");
});
rule("D11", "it comes in pieces", async (s) =>
  ok((await s.plainStream()).choices.length > 3, "fewer than four chunks"));
rule("D12", "logprobs is null in each choice when not asked for", async (s) => {
  for (const c of (await s.plainStream()).choices)
    ok(c.logprobs == null, "logprobs");
});
rule("D13", "no piece holds half a character", async (s) => {
  const r = await s.stream({ max_tokens: 96 },
    "Repeat: 漢字 żółw 👩🏽‍🚀");
  served(r);
  ok(!r.text.includes("\uFFFD"), "U+FFFD");
});
rule("D14", "include_usage true: one usage chunk, last, without choices",
  async (s) => {
    const r = await s.stream({ stream_options: { include_usage: true } });
    is(r.usage.length, 1, "chunks with usage");
    is(r.usage[0].choices, [], "its choices");
    ok(r.chunks.at(-1) === r.usage[0], "it is not the last");
    is(r.usage[0].usage.total_tokens,
      served(await s.plain()).usage.total_tokens, "total_tokens");
  });
rule("D15", "include_usage true: usage is null in all other chunks",
  async (s) => {
    const r = await s.stream({ stream_options: { include_usage: true } });
    served(r);
    for (const c of r.chunks.slice(0, -1)) is(c.usage, null, "usage");
  });
rule("D16", "include_usage false: no usage", async (s) => {
  const r = await s.stream({ stream_options: { include_usage: false } });
  served(r);
  is(r.usage.length, 0, "chunks with usage");
});
rule("D17", "stream_options {} is the same as none", async (s) => {
  const r = await s.stream({ stream_options: {} });
  served(r);
  is(r.usage.length, (await s.plainStream()).usage.length,
    "chunks with usage");
  ok(r.usage.length <= 1, "usage in more than one chunk");
});
rule("D18", "stream_options without stream is refused, or means nothing",
  async (s) => {
    const r = await s.chat({ stream_options: { include_usage: true },
      max_tokens: 2 });
    if (r.status === 200) is(r.json.object, "chat.completion", "object");
    else refuses(r, "stream_options");
  });
rule("D19", "an end by max_tokens says length", async (s) => {
  const r = await s.stream({ max_tokens: 2 });
  is(r.finish, ["length"], "finish reasons");
  is(r.done, 1, "[DONE]");
});
rule("D20", "stream false is one JSON answer", async (s) => {
  const r = await s.chat({ stream: false, max_tokens: 2 });
  oneOf(served(r).object, ["chat.completion"], "object");
  ok(/^application\/json/.test(r.type), r.type);
});
rule("D21", "a client may leave in the middle; the next is served",
  async (s) => {
    const stop = new AbortController();
    const r = await fetch(`${s.base}/chat/completions`, {
      method: "POST", signal: stop.signal,
      headers: { "content-type": "application/json",
        ...(s.key ? { authorization: `Bearer ${s.key}` } : {}) },
      body: JSON.stringify(s.ask({ stream: true })),
    });
    const reader = r.body.getReader();
    await reader.read();
    stop.abort();
    await reader.read().catch(() => null);
    served(await s.chat({ max_tokens: 2 }));
  });
