// Limits of a key: the official client's error, its headers, and that the
// client's own retries do what the server asks for.
import OpenAI from "openai";
import { client, done, fetchOptions, is, ok, refusal, siteFetch, until, url }
  from "./lib/tap.mjs";

const ask = {
  model: "demo", max_tokens: 1, temperature: 0,
  messages: [{ role: "user", content: "Hi" }],
};
const ai = client();

// A client that retries, and counts what it sends.
let sent = 0;
function patient(maxRetries) {
  sent = 0;
  return new OpenAI({
    baseURL: `${url}/v1`, apiKey: process.env.PEN_KEY, maxRetries,
    fetchOptions,
    fetch: (input, init) => (sent++, siteFetch(input, init)),
  });
}

// the key is new: the daemon looks once a second
await until(async () =>
  (await refusal(ai.models.list())).status === 200, 10000);
const { response } = await ai.chat.completions.create(ask).withResponse();
const of = (r, name) => r.headers.get(`x-ratelimit-${name}`);
is([of(response, "limit-requests"), of(response, "limit-tokens")],
  ["60", "6000"], "the limits");
is(of(response, "remaining-requests"), "59", "one request is gone");
ok(Number(of(response, "remaining-tokens")) > 5900, "and some tokens");
ok(/^\d+(\.\d+)?m?s$/.test(of(response, "reset-tokens")),
  `all back in ${of(response, "reset-tokens")}`);
const stream = await ai.chat.completions.create({ ...ask, stream: true })
  .withResponse();
for await (const c of stream.data);
is(of(stream.response, "limit-requests"), "60", "a stream has them too");

let big = await refusal(patient(5).chat.completions.create(
  { ...ask, max_tokens: 3500, n: 2 }));
ok(big instanceof OpenAI.RateLimitError, "larger than the limit");
ok(/request too large.*6000 per minute/.test(big.message), big.message);
is(sent, 1, "is tried once");

let e;
for (let i = 0; i < 20 && !e; i++) {
  const all = await Promise.all(Array.from({ length: 16 },
    () => refusal(ai.chat.completions.create(ask))));
  e = all.find((x) => x.status !== 200);
}
ok(e instanceof OpenAI.RateLimitError, "too many: RateLimitError");
is([e.status, e.type, e.code, e.param],
  [429, "rate_limit_error", "rate_limit_exceeded", null], "its members");
ok(/60 requests per minute/.test(e.message), e.message);
is([e.headers.get("retry-after"), e.headers.get("x-ratelimit-limit-requests"),
  e.headers.get("x-ratelimit-remaining-requests")], ["1", "60", "0"],
"its headers");
const r = await refusal(patient(2).chat.completions.create(ask));
is(r.status, 200, "a client that waits as it is told is served");
ok(sent <= 2, `at its second try (${sent})`);
done();
