// The command line of the contract, and the TAP that it prints.
import { readFileSync } from "node:fs";
import { Site } from "./site.mjs";
import { Skip, rules } from "./rules.mjs";
import "./a_requests.mjs";
import "./b_errors.mjs";
import "./c_chat.mjs";
import "./d_streams.mjs";
import "./e_limits.mjs";
import "./f_sampling.mjs";
import "./g_logprobs.mjs";
import "./h_tools.mjs";
import "./i_completions.mjs";
import "./j_server.mjs";
import "./k_hostile.mjs";
import "./l_responses.mjs";
import "./m_messages.mjs";
import "./x_fields.mjs";
import "./x_reasoning.mjs";
import "./x_wire.mjs";

const groups = {
  A: "request shape", B: "errors", C: "chat", D: "chat streams",
  E: "limits and stops", F: "sampling", G: "log-probabilities",
  H: "tools and history", I: "completions", J: "models, health, headers",
  K: "hostile input", L: "responses", M: "messages",
  X: "extensions of Penstock",
};
const say = (text) => process.stdout.write(`${text}\n`);

function usage(text) {
  process.stderr.write(`run: ${text}; see --help\n`);
  process.exit(2);
}

function options(argv, file) {
  const o = { words: [] };
  const value = { "--model": "model", "--only": "only" };
  const flag = { "--openai-only": "openai", "--list": "list",
    "--insecure": "insecure" };
  for (let i = 0; i < argv.length; i++) {
    const a = argv[i];
    if (a === "--help") {
      const text = readFileSync(file, "utf8").match(/\/\*\n(.*?) \*\//s)[1];
      say(text.replace(/^ \* ?/gm, "").trimEnd());
      process.exit(0);
    }
    if (value[a]) o[value[a]] = argv[++i] ?? usage(`${a} needs a value`);
    else if (flag[a]) o[flag[a]] = true;
    else if (a.startsWith("-")) usage(`no option ${a}`);
    else o.words.push(a);
  }
  if (o.words.length > 2) usage("too many arguments");
  [o.url, o.key] = o.words;
  if (!o.url && !o.list) usage("no URL");
  if (o.url && !/^https?:\/\/\S+$/.test(o.url)) usage(`${o.url} is no URL`);
  return o;
}

function chosen(o) {
  let some = rules.filter((r) => !o.openai || !/^[MX]/.test(r.id));
  if (o.only) {
    let want;
    try {
      want = new RegExp(o.only, "i");
    } catch {
      usage(`${o.only} is no pattern`);
    }
    some = some.filter((r) => want.test(`${r.id} ${r.name}`));
  }
  return some.length ? some : usage("no rule matches");
}

// One rule: null when it holds, else what was seen instead.
async function broken(rule, site) {
  try {
    await rule.test(site);
    return null;
  } catch (e) {
    if (e instanceof Skip) throw e;
    return e.cause?.message ? `${e.message}: ${e.cause.message}` : e.message;
  }
}

function summary(seen) {
  for (const [letter, name] of Object.entries(groups)) {
    const all = seen.filter((s) => s.id.startsWith(letter));
    if (all.length)
      say(`# ${letter} ${name}: ${all.filter((s) => s.holds).length} of `
        + `${all.length}`);
  }
  const holds = seen.filter((s) => s.holds).length;
  say(`# ${holds} of ${seen.length} rules hold`);
  return holds === seen.length;
}

export async function main(argv, file) {
  const o = options(argv, file);
  const some = chosen(o);
  if (o.list) {
    for (const r of some) say(`${r.id} ${r.name}`);
    return;
  }
  if (o.insecure) {
    process.removeAllListeners("warning");
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = "0";
  }
  const site = new Site(o);
  await site.start().catch((e) => usage(
    `${o.url}: ${e.cause?.message ?? e.message}`));
  say(`# ${o.url}, model ${site.model}`);
  const seen = [];
  for (const [i, r] of some.entries()) {
    try {
      const why = await broken(r, site);
      say(`${why === null ? "ok" : "not ok"} ${i + 1} - ${r.id} ${r.name}`);
      if (why !== null) say(`#   ${why.slice(0, 600).replace(/\n/g, " ")}`);
      seen.push({ id: r.id, holds: why === null });
    } catch (e) {
      say(`ok ${i + 1} - ${r.id} ${r.name} # SKIP ${e.message}`);
    }
  }
  say(`1..${some.length}`);
  process.exitCode = summary(seen) ? 0 : 1;
}
