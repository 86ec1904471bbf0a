// B: errors. One shape, the right status, type and code.
import { is, isError, ok, refuses, rule, skip } from "./rules.mjs";

rule("B01", "a body that is not JSON is 400", async (s) =>
  isError(await s.post("/chat/completions", "{\"messages\":"), 400,
    "invalid_request_error"));
rule("B02", "an empty body is 400", async (s) =>
  isError(await s.post("/chat/completions", ""), 400,
    "invalid_request_error"));
rule("B03", "a body that is a list is 400", async (s) =>
  isError(await s.post("/chat/completions", "[]"), 400,
    "invalid_request_error"));
rule("B04", "a body that is null is 400", async (s) =>
  isError(await s.post("/chat/completions", "null"), 400,
    "invalid_request_error"));
rule("B05", "a key without a name is 400", async (s) =>
  isError(await s.post("/chat/completions", "{:\"model\"}"), 400,
    "invalid_request_error"));
rule("B06", "a wrong key is 401 invalid_api_key", async (s) => {
  if (!s.key) skip("no key was given");
  const e = isError(await s.post("/chat/completions", s.ask({}),
    { key: "sk-not-a-key" }), 401);
  is(e.code, "invalid_api_key", "code");
});
rule("B07", "no key is 401", async (s) => {
  if (!s.key) skip("no key was given");
  isError(await s.post("/chat/completions", s.ask({}), { key: null }), 401);
});
rule("B08", "a wrong key is 401 for a stream, too", async (s) => {
  if (!s.key) skip("no key was given");
  isError(await s.post("/chat/completions", s.ask({ stream: true }),
    { key: "sk-not-a-key" }), 401);
});
rule("B09", "the key is asked for before the body is looked at", async (s) => {
  if (!s.key) skip("no key was given");
  isError(await s.post("/chat/completions", "{", { key: "sk-not-a-key" }),
    401);
});
rule("B10", "a model that is not there is 404 model_not_found", async (s) => {
  const e = isError(await s.chat({ model: "no-such-model-here" }), 404);
  is(e.code, "model_not_found", "code");
});
rule("B11", "a route that is not there is 404", async (s) =>
  isError(await s.post("/no/such/route", {}), 404));
rule("B12", "GET of a POST route is 405", async (s) =>
  isError(await s.get("/chat/completions"), 405));
rule("B13", "DELETE of a POST route is 405", async (s) =>
  isError(await s.send("DELETE", "/chat/completions"), 405));
rule("B14", "a prompt over the context is context_length_exceeded",
  async (s) => {
    for (const stream of [false, true]) {
      const r = await s.overflow((text) => s.chat({ stream, max_tokens: 1 },
        text));
      if (r.status === 413) skip("the body is too large first");
      const e = isError(r, 400, "invalid_request_error");
      is(e.code, "context_length_exceeded", "code");
      ok(/maximum context length/.test(e.message), e.message);
      ok((e.message.match(/\d+/g) ?? []).length >= 2, e.message);
    }
  });
rule("B15", "what is refused in a stream is no stream", async (s) => {
  const r = await s.chat({ stream: true, max_tokens: 0 });
  refuses(r, "max_tokens");
  ok(!/data:/.test(r.text), "an event");
});
