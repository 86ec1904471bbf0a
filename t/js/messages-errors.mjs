// Errors of /v1/messages that need a site of their own, as the official
// package's classes: a limit of the key, a body that nginx refuses, a method,
// a daemon that is not there (PEN_DOWN). What the fields of a request are
// refused for is in messages.mjs.
import Anthropic from "@anthropic-ai/sdk";
import { ai, judged, types, wire } from "./lib/messages.mjs";
import { done, is, ok, refusal, until } from "./lib/tap.mjs";

const ask = { model: "demo", max_tokens: 1, temperature: 0,
  messages: [{ role: "user", content: "Hi" }] };

// `declared`: whether the package's types know the word
async function failed(promise, type, word, name, declared = true) {
  const e = await promise;
  ok(e instanceof type, `${name}: ${type.name}, got ${e.constructor?.name}`);
  is(e.type, word, `${name}: ${word}`);
  ok(e.apiMessage?.length > 0, `${name}: ${e.apiMessage}`);
  const { headers, text } = wire.last();
  const body = JSON.parse(text);
  if (declared) types.error(body, name);
  is(body.request_id, headers.get("request-id"),
    `${name}: the body's request id is the header's`);
  return e;
}
const each = async (test) => {
  for (const stream of [false, true]) await test(stream);
};

if (process.env.PEN_DOWN) {
  await each((stream) => failed(refusal(ai.messages.create(
    { ...ask, stream })), Anthropic.InternalServerError, "overloaded_error",
  "without a daemon"));
  judged();
  done();
}

const large = { ...ask, system: "word ".repeat(250000) };
await each((stream) => failed(refusal(ai.messages.create(
  { ...large, stream })), Anthropic.ContentTooLargeError, "request_too_large",
"a body over nginx's cap", false));
await failed(refusal(ai.get("/v1/messages")), Anthropic.APIError,
  "invalid_request_error", "GET");
is(wire.last().headers.get("allow"), "POST, OPTIONS",
  "GET: what is allowed is said");

await until(async () =>
  (await refusal(ai.models.list())).status === 200, 10000);
const one = await ai.messages.create(ask).withResponse();
ok(one.request_id && one.request_id === one.data._request_id,
  "an answer has its request id");
await each(async (stream) => {
  // refused are those of the same minute; the window may just have moved
  let e;
  for (let i = 0; i < 20 && !(e instanceof Error); i++)
    e = await refusal(ai.messages.create({ ...ask, stream }).then((r) =>
      (stream ? r.controller.abort() : r)));
  e = await failed(Promise.resolve(e), Anthropic.RateLimitError,
    "rate_limit_error", "over the key's limit");
  ok(Number(e.headers.get("retry-after")) > 0, "with Retry-After");
  ok(e.requestID, "and a request id");
});
judged();
done();
