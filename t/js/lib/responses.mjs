// One request to /v1/responses with the official package, and everything that
// is true of every answer checked: the bytes that came, the order of events,
// the package's declared types (told of by judged(), at the end).
import { openaiTypes } from "./declared.mjs";
import { responsesOrder } from "./order.mjs";
import { recorder, records } from "./sse.mjs";
import { client, diag, is, ok } from "./tap.mjs";

export const types = openaiTypes();
export const wire = recorder();
export const ai = client(undefined, { fetch: wire.fetch });

// The JSON answer as it came over the wire.
export async function whole(params, name) {
  const r = await ai.responses.create({ model: "demo", ...params });
  const raw = JSON.parse(wire.last().text);
  types.response(raw, name);
  const { output_text, _request_id, ...same } = r;
  is(same, raw, `${name}: the package reads what was sent`);
  is(output_text, said(raw), `${name}: its output_text is the text`);
  return raw;
}

// The stream: { events, response }, response being that of its last event.
export async function streamed(params, name) {
  const events = [];
  for await (const e of await ai.responses.create(
    { model: "demo", ...params, stream: true })) events.push(e);
  return checked(events, name);
}

// The stream by the package's own accumulator.
export async function accumulated(params, name) {
  const s = ai.responses.stream({ model: "demo", ...params });
  const final = await s.finalResponse();
  const { response } = await checked(null, name);
  is(final.output.map(plain), response.output,
    `${name}: finalResponse's output`);
  is(final.output_text, said(response), `${name}: and its output_text`);
  is([final.id, final.status, final.usage],
    [response.id, response.status, response.usage], `${name}: and its figures`);
  return final;
}

// Without what the package adds to what it parses.
function plain(item) {
  const { parsed_arguments: _, ...rest } = item;
  return rest.type !== "message" ? rest : { ...rest,
    content: rest.content.map(({ parsed, ...part }) => part) };
}

async function checked(events, name) {
  const { text, headers } = wire.last();
  const raw = records(text);
  is(raw.faults, [], `${name}: records with a name and no [DONE]`);
  if (events) is(events, raw.events, `${name}: the package reads them all`);
  const order = responsesOrder(raw.events);
  if (!ok(!order.faults.length, `${name}: every event in its order`))
    diag(order.faults.join("\n"));
  types.stream(raw.events, name);
  return { ...order, events: raw.events, headers };
}

export function said(response) {
  return response.output.flatMap((i) => (i.type === "message"
    ? i.content.map((c) => c.text) : [])).join("");
}

export function thought(response) {
  return response.output.flatMap((i) => (i.type === "reasoning"
    ? i.content.map((c) => c.text) : [])).join("");
}

export function calls(response) {
  return response.output.filter((i) => i.type === "function_call");
}

// What two answers to one request share: all but ids, times and the cache.
export function gist(response) {
  const { input_tokens, output_tokens, total_tokens, output_tokens_details } =
    response.usage;
  return { status: response.status, why: response.incomplete_details,
    usage: { input_tokens, output_tokens, total_tokens, output_tokens_details },
    output: response.output.map(({ id, call_id, ...item }) => item) };
}

// Whole, streamed and accumulated: one answer.
export async function everyWay(params, name) {
  const one = await whole(params, `${name}, whole`);
  const two = await streamed(params, `${name}, streamed`);
  is(gist(two.response), gist(one), `${name}: the stream ends as the answer`);
  const three = await accumulated(params, `${name}, accumulated`);
  is(three.output_text, said(one), `${name}: and so does the package's helper`);
  return { ...two, response: one };
}

// Compiling takes seconds of processor time: of two runs that differ in HTTP
// alone, one is enough (PEN_UNTYPED).
export function judged() {
  if (process.env.PEN_UNTYPED === "1") return;
  const faults = types.faults();
  if (!ok(!faults.length, `${types.count} values have their declared types`))
    diag([...new Set(faults.map((f) => f.slice(0, 600)))].slice(0, 12)
      .join("\n"));
}
