// X: what answers and the server have beyond OpenAI's.
import { is, ok, rule, served, skip } from "./rules.mjs";

rule("X40", "keys in order: id object created model ... usage choices timings",
  async (s) => {
    const keys = Object.keys(served(await s.plain()));
    const want = ["id", "object", "created", "model", "usage", "choices",
      "timings", "metrics"];
    is(keys.filter((k) => want.includes(k)), want, "keys");
  });
rule("X41", "timings tell the counts of usage", async (s) => {
  const { usage: u, timings: t } = served(await s.plain());
  is([t.cache_n + t.prompt_n, t.predicted_n, t.cache_n],
    [u.prompt_tokens, u.completion_tokens,
      u.prompt_tokens_details.cached_tokens], "counts");
  ok(Math.abs(t.queue_ms + t.prompt_ms - t.ttft_ms) < 0.02, "ttft_ms");
});
rule("X42", "no stream_options: usage is in the finish chunk", async (s) => {
  const r = await s.plainStream();
  is(r.usage.length, 1, "chunks with usage");
  ok(r.usage[0].choices[0]?.finish_reason, "not in the finish chunk");
  ok(r.usage[0].timings && r.usage[0].metrics, "no timings");
});
rule("X43", "no id: and no event: lines, [DONE] in every stream", async (s) => {
  for (const extra of [{}, { max_tokens: 1 }, { stop: ["a"] }]) {
    const r = await s.stream(extra);
    is(r.done, 1, "[DONE]");
    ok(!/^(id|event|retry):/m.test(r.text), "another line");
  }
});
rule("X44", "x-request-id is the id of the answer", async (s) => {
  const r = await s.plain();
  is(r.headers.get("x-request-id"), served(r).id, "id");
  const t = await s.plainStream();
  is(t.headers.get("x-request-id"), t.chunks[0].id, "id of a stream");
});
rule("X45", "health needs no key", async (s) => {
  const root = new URL(s.base).origin;
  for (const url of [`${root}/health`, `${s.base}/health`]) {
    const j = served(await s.get(url, { key: null }));
    is(j.status, "ok", url);
  }
});
rule("X46", "HEAD is GET without a body", async (s) => {
  for (const path of ["/models", "/health"]) {
    const [h, g] = [await s.send("HEAD", path), await s.get(path)];
    served(g);
    is(h.status, 200, "status");
    is(h.bytes.length, 0, "bytes of body");
    is(h.headers.get("content-type"), g.headers.get("content-type"),
      "content-type");
  }
});
rule("X47", "405 says what is allowed", async (s) => {
  const allow = async (r) => (await r).headers.get("allow") ?? "";
  ok(/\bPOST\b/.test(await allow(s.get("/chat/completions"))), "no POST");
  ok(/\bGET\b/.test(await allow(s.post("/models", {}))), "no GET");
});
rule("X48", "OPTIONS needs no key and says what is allowed", async (s) => {
  const r = await s.send("OPTIONS", "/chat/completions", { key: null,
    headers: { origin: "https://example.org",
      "access-control-request-method": "POST" } });
  is(r.status, 204, "status");
  ok(/\bPOST\b/.test(r.headers.get("allow") ?? ""), "no Allow");
});
rule("X49", "401 has WWW-Authenticate", async (s) => {
  if (!s.key) skip("no key was given");
  ok(/^Bearer/.test((await s.get("/models", { key: "sk-not-a-key" })).headers
    .get("www-authenticate") ?? ""), "none");
});
