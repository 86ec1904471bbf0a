// TAP for the JavaScript tests, and what they share: the site under test comes
// in through the environment, from the .t file that started it.
//   PEN_URL    https://127.0.0.1:PORT    PEN_KEY   a key that is accepted
//   PEN_CA     the site's certificate    PEN_H2    "1": speak HTTP/2
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import OpenAI from "openai";
import { Agent } from "undici";

let n = 0;
let failed = 0;

export function ok(pass, name) {
  n++;
  if (!pass) failed++;
  process.stdout.write(`${pass ? "ok" : "not ok"} ${n} - ${name}\n`);
  return pass;
}

export function is(got, want, name) {
  const [g, w] = [JSON.stringify(got), JSON.stringify(want)];
  if (!ok(g === w, name)) diag(`got ${g}, expected ${w}`);
}

// As is(), whatever the order of members.
export function same(got, want, name) {
  if (!ok(isDeepStrictEqual(got, want), name))
    diag(`got ${JSON.stringify(got)}, expected ${JSON.stringify(want)}`);
}

export function diag(text) {
  process.stdout.write(`#   ${text.replace(/\n/g, "\n#   ")}\n`);
}

export function done() {
  process.stdout.write(`1..${n}\n`);
  process.exit(failed ? 1 : 0);
}

export const url = process.env.PEN_URL;
export const h2 = process.env.PEN_H2 === "1";

const dispatcher = new Agent({
  allowH2: h2,
  connect: { ca: readFileSync(process.env.PEN_CA), rejectUnauthorized: true },
  headersTimeout: 120000,
  bodyTimeout: 120000,
});

// The official client, only its base URL changed.
export function client(key = process.env.PEN_KEY, more = {}) {
  return new OpenAI({
    baseURL: `${url}/v1`,
    apiKey: key,
    maxRetries: 0,
    fetchOptions,
    ...more,
  });
}

// fetch with the site's certificate, for clients that take a fetch.
export function siteFetch(input, init) {
  return fetch(input, { ...init, dispatcher });
}

export const fetchOptions = { dispatcher };

export async function get(path, key = process.env.PEN_KEY) {
  const r = await siteFetch(url + path, {
    headers: { authorization: `Bearer ${key}` },
  });
  return { status: r.status, json: await r.json() };
}

// What a promise fails with; { status: 200 } when it does not.
export async function refusal(promise) {
  try {
    await promise;
    return { status: 200 };
  } catch (e) {
    return e;
  }
}

// A request whose answer is long enough to be left in the middle.
export const endless = {
  temperature: 1.9,
  seed: 26,
  messages: [{ role: "user", content: "Tell me a long story about a king." }],
};

// The same by a form, where it must not end before: a thousand items.
export const endlessForm = { type: "object", properties: {
  a: { type: "array", items: { enum: [1] }, minItems: 1000 } },
required: ["a"], additionalProperties: false };

export async function collect(stream) {
  const out = { text: "", reasoning: "", chunks: 0, finish: [], usage: null };
  for await (const c of stream) {
    out.chunks++;
    out.id ??= c.id;
    if (c.usage) out.usage = c.usage;
    for (const choice of c.choices) {
      out.text += choice.delta.content ?? "";
      out.reasoning += choice.delta.reasoning_content ?? "";
      if (choice.finish_reason) out.finish.push(choice.finish_reason);
    }
  }
  return out;
}

export function sleep(ms) {
  return new Promise((r) => setTimeout(r, ms));
}

// Ask until `test` holds or the time is over; the outcome is the verdict.
export async function until(test, ms = 10000) {
  const end = Date.now() + ms;
  for (;;) {
    const v = await test();
    if (v || Date.now() > end) return v;
    await sleep(10);
  }
}
