// The official client against the whole site: models, JSON, streams, errors.
import OpenAI from "openai";
import { client, collect, done, get, h2, is, ok, refusal, url } from "./lib/tap.mjs";

const ai = client();
const capital = [{ role: "user", content: "What is the capital of France?" }];
const ask = { model: "demo", messages: capital, temperature: 0 };

const models = await ai.models.list();
is(models.data.map((m) => m.id), ["demo"], "models.list names the model");
is((await ai.models.retrieve("demo")).object, "model", "models.retrieve works");

const json = await ai.chat.completions.create(ask);
ok(/Paris/.test(json.choices[0].message.content), "a JSON answer knows Paris");
is(json.choices[0].finish_reason, "stop", "it ends with stop");
is(json.object, "chat.completion", "its object is chat.completion");
ok(/^chatcmpl-/.test(json.id), "its id is a chat completion's");
ok(json.system_fingerprint, "it carries a system_fingerprint");
is(json.usage.prompt_tokens + json.usage.completion_tokens,
  json.usage.total_tokens, "usage adds up");

const s = await collect(await ai.chat.completions.create({
  ...ask, stream: true, stream_options: { include_usage: true } }));
is(s.text, json.choices[0].message.content, "the stream has the same text");
is(s.finish, ["stop"], "with one finish reason");
// the second time the prompt is in the cache, but for its last token
const { prompt_tokens_details: cache, ...usage } = s.usage;
const { prompt_tokens_details: _, ...same } = json.usage;
is(usage, same, "and the same usage");
is(cache.cached_tokens, usage.prompt_tokens - 1, "which says so");
ok(s.chunks > 2, "it came in pieces");

const think = await collect(await ai.chat.completions.create({
  ...ask, stream: true, reasoning_effort: "high" }));
ok(think.reasoning.length > 0, "thinking goes to reasoning_content");
ok(!/think>/.test(think.text + think.reasoning), "without its tags");

const text = await ai.completions.create({
  model: "demo", prompt: "Once upon a time", max_tokens: 12, temperature: 0 });
is(text.object, "text_completion", "completions answer");
is(text.usage.completion_tokens, 12, "with max_tokens kept");
is(text.choices[0].finish_reason, "length", "and a length finish");
let streamed = "";
for await (const c of await ai.completions.create({ model: "demo",
  prompt: "Once upon a time", max_tokens: 12, temperature: 0, stream: true }))
  streamed += c.choices[0]?.text ?? "";
is(streamed, text.choices[0].text, "completions stream the same text");

const seeded = { ...ask, temperature: 1, seed: 7, max_tokens: 24,
  messages: [{ role: "user", content: "Tell me a long story about a fox named Ida." }] };
const one = await ai.chat.completions.create(seeded);
const two = await ai.chat.completions.create(seeded);
is(two.choices[0].message.content, one.choices[0].message.content,
  "one seed, one text");

let e = await refusal(ai.chat.completions.create({ ...ask, model: "nothing" }));
ok(e instanceof OpenAI.NotFoundError, "an unknown model is NotFoundError");
is(e.code, "model_not_found", "with OpenAI's code");
e = await refusal(ai.chat.completions.create({ ...ask, messages: [] }));
ok(e instanceof OpenAI.BadRequestError, "no messages is BadRequestError");
is(e.param, "messages", "naming the field");
e = await refusal(client("pk-wrong").chat.completions.create(ask));
ok(e instanceof OpenAI.AuthenticationError, "a wrong key is rejected");
is(e.code, "invalid_api_key", "with OpenAI's code");
e = await refusal(client("pk-wrong").chat.completions.create(
  { ...ask, stream: true }));
ok(e instanceof OpenAI.AuthenticationError, "also for a stream");
const long = "word ".repeat(20000);
e = await refusal(ai.chat.completions.create({ ...ask,
  messages: [{ role: "user", content: long }] }));
is(e.code, "context_length_exceeded", "a prompt over the context says so");

is((await get("/health", "none")).status, 200, "health needs no key");
is((await get("/v1/nothing")).status, 404, "an unknown route is 404");
ok(url && true, `spoken over HTTP/${h2 ? 2 : 1.1}`);
done();
