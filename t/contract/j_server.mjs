// J: models, headers, methods.
import { is, isError, ok, oneOf, rule, served, servedOr, skip }
  from "./rules.mjs";

rule("J01", "GET /models lists models", async (s) => {
  const j = served(await s.get("/models"));
  is(j.object, "list", "object");
  ok(j.data.length, "none");
  for (const m of j.data) {
    is(m.object, "model", "object");
    ok(m.id && m.owned_by && Number.isInteger(m.created), "a key is missing");
  }
});
rule("J02", "GET /models/ID is that entry", async (s) => {
  const r = await s.get(`/models/${encodeURIComponent(s.model)}`);
  is(served(r).id, s.model, "id");
});
rule("J03", "GET /models/ID of none is 404 model_not_found", async (s) =>
  is(isError(await s.get("/models/no-such-model-here"), 404).code,
    "model_not_found", "code"));
rule("J04", "GET /models needs the key", async (s) => {
  if (!s.key) skip("no key was given");
  isError(await s.get("/models", { key: "sk-not-a-key" }), 401);
});
rule("J05", "JSON answers and errors are application/json", async (s) => {
  served(await s.plain());
  for (const r of [await s.get("/models"), await s.plain(),
    await s.get("/no/such/route"), await s.chat({ messages: [] })])
    ok(/^application\/json/.test(r.type), `${r.status}: ${r.type}`);
});
rule("J06", "every answer has an x-request-id, each another", async (s) => {
  const ids = [];
  for (const r of [await s.get("/models"), await s.chat({ max_tokens: 1 }),
    await s.chat({ max_tokens: 1, stream: true }),
    await s.chat({ messages: [] }), await s.get("/no/such/route")])
    ids.push(r.headers.get("x-request-id"));
  ok(ids.every((id) => id), JSON.stringify(ids));
  is(new Set(ids).size, ids.length, "ids");
});
rule("J07", "a 401 has one, too", async (s) => {
  if (!s.key) skip("no key was given");
  ok((await s.get("/models", { key: "sk-not-a-key" })).headers
    .get("x-request-id"), "none");
});
rule("J08", "a slash at the end of a path does not matter", async (s) =>
  servedOr(await s.get("/models/"), (r) =>
    oneOf(r.status, [301, 308], "status")));
rule("J09", "a query behind a path does not matter", async (s) =>
  served(await s.get("/models?api-version=1")));
rule("J10", "an unknown content type is read as JSON, or refused in JSON",
  async (s) => {
    const r = await s.post("/chat/completions", s.ask({ max_tokens: 1 }),
      { headers: { "content-type": "text/plain" } });
    servedOr(r, () => isError(r, r.status));
    ok(r.status < 500, `status ${r.status}`);
  });
rule("J11", "four requests at once are all answered", async (s) => {
  const all = await Promise.all([1, 2, 3, 4].map(() =>
    s.chat({ max_tokens: 4 })));
  for (const r of all)
    servedOr(r, () => oneOf(r.status, [429, 503], "status"));
});
