// What came over the wire: a fetch that keeps a copy of every answer, and the
// records of an event stream in it.
import { siteFetch } from "./tap.mjs";

// { fetch, last() }: `fetch` for a client; last() is the latest answer as
// { status, headers, text }, text being null when it was not read to its end.
// (No clone: a branch that nobody reads would keep a left stream alive.)
export function recorder() {
  let latest = null;
  return {
    async fetch(input, init) {
      const r = await siteFetch(input, init);
      const { status, statusText, headers } = r;
      const mine = { status, headers, text: null };
      latest = mine;
      if (!r.body) return r;
      const chunks = [];
      const reader = r.body.getReader();
      return new Response(new ReadableStream({
        async pull(to) {
          const { done, value } = await reader.read();
          if (!done) {
            chunks.push(value);
            return to.enqueue(value);
          }
          mine.text = Buffer.concat(chunks).toString();
          to.close();
        },
        cancel: (why) => reader.cancel(why),
      }), { status, statusText, headers });
    },
    last: () => latest,
  };
}

// The records of a stream by the rules of server-sent events: [{ name, data }]
// with `data` parsed, and what breaks our own rules: a record is one event
// line and one data line, its name is its type, and nothing follows.
export function records(text) {
  const out = { events: [], faults: [] };
  if (!text.endsWith("\n\n")) out.faults.push("the last record is not closed");
  for (const block of text.split("\n\n").slice(0, -1)) {
    const lines = block.split("\n").filter((l) => !l.startsWith(":"));
    if (!lines.length) continue;
    const [event, data, ...more] = lines;
    if (!event.startsWith("event: ") || !data?.startsWith("data: ")
      || more.length) {
      out.faults.push(`no record of two lines: ${block.slice(0, 80)}`);
      continue;
    }
    const value = JSON.parse(data.slice(6));
    if (value.type !== event.slice(7))
      out.faults.push(`${event} has type ${value.type}`);
    out.events.push(value);
  }
  return out;
}
