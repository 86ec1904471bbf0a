// The list of rules, and the words in which they are written.
//
//   rule("A03", "max_completion_tokens caps", async (s) => { ... })
//
// A rule holds when its function returns. `s` is the site (site.mjs).

export const rules = [];
export class Skip extends Error {}

export function rule(id, name, test) {
  if (rules.some((r) => r.id === id)) throw new Error(`two rules ${id}`);
  rules.push({ id, name, test });
}

export function skip(why) {
  throw new Skip(why);
}

export function ok(pass, what) {
  if (!pass) throw new Error(what);
}

export function is(got, want, what) {
  const [g, w] = [JSON.stringify(got), JSON.stringify(want)];
  if (g !== w) throw new Error(`${what}: got ${g}, expected ${w}`);
}

export function oneOf(got, all, what) {
  ok(all.some((a) => a === got),
    `${what}: got ${JSON.stringify(got)}, expected one of `
    + JSON.stringify(all));
}

// The four keys of an error object, and what must be in them.
export function isError(r, status, type) {
  is(r.status, status, `status (${r.text.slice(0, 200)})`);
  ok(/^application\/json/.test(r.type), `content type is ${r.type}`);
  const e = r.json?.error;
  ok(e && typeof e === "object", "no error object");
  for (const key of ["message", "type", "param", "code"])
    ok(key in e, `the error has no ${key}`);
  ok(typeof e.message === "string" && e.message, "an empty message");
  ok(typeof e.type === "string" && e.type, "an empty type");
  for (const key of ["param", "code"])
    ok(e[key] === null || typeof e[key] === "string",
      `${key} is neither a string nor null`);
  if (type) is(e.type, type, "type");
  return e;
}

// A 400 whose param is the field, or a place inside of it.
export function refuses(r, ...fields) {
  const e = isError(r, 400, "invalid_request_error");
  const at = e.param ?? "";
  ok(fields.some((f) => at === f || at.startsWith(`${f}.`)
    || at.startsWith(`${f}[`)),
  `param is ${JSON.stringify(e.param)}, not ${fields.join(" or ")}`);
  return e;
}

// An answer that says something; its JSON.
export function served(r) {
  is(r.status, 200, `status (${r.text.slice(0, 300)})`);
  ok(r.chunks ? r.chunks.length : r.json?.object || r.json?.status,
    "an empty answer");
  return r.json;
}

// Served, or not served for the reason that `check` finds right.
export function servedOr(r, check) {
  if (r.status === 200) served(r);
  else check(r);
}

// A number from `low` to `high`.
export function within(got, low, high, what) {
  ok(typeof got === "number" && got >= low && got <= high,
    `${what} is ${JSON.stringify(got)}`);
}
