// The server under test: requests to it, and what came back.
import { served } from "./rules.mjs";

const LIMIT_MS = 300000;

export class Site {
  constructor({ url, key, model }) {
    this.base = url.replace(/\/+$/, "");
    this.key = key;
    this.model = model;
    this.kept = new Map();
  }

  // Finds the model; throws when there is nobody.
  async start() {
    const r = await this.get("/models");
    this.models = r.json?.data;
    this.model ??= this.models?.[0]?.id;
    if (!this.model)
      throw new Error(`GET /models: ${r.status} and no model; use --model`);
  }

  async send(method, path, { body, key = this.key, headers = {} } = {}) {
    const to = /^https?:/.test(path) ? path : this.base + path;
    const r = await fetch(to, {
      method,
      body,
      headers: {
        ...(key ? { authorization: `Bearer ${key}` } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const bytes = Buffer.from(await r.arrayBuffer());
    const out = { status: r.status, headers: r.headers, bytes,
      text: bytes.toString("utf8"),
      type: r.headers.get("content-type") ?? "", json: null };
    try {
      out.json = JSON.parse(out.text);
    } catch {
      // no JSON: what is expected of it says so
    }
    return out;
  }

  get(path, o) {
    return this.send("GET", path, o);
  }

  post(path, body, o) {
    return this.send("POST", path, { ...o,
      body: typeof body === "string" ? body : JSON.stringify(body) });
  }

  // A chat of one question; `extra` may replace everything.
  chat(extra, question = CAPITAL) {
    return this.post("/chat/completions", this.ask(extra, question));
  }

  ask(extra, question = CAPITAL) {
    return { model: this.model, temperature: 0, max_tokens: 512,
      messages: [{ role: "user", content: question }], ...extra };
  }

  completion(extra) {
    return this.post("/completions", { model: this.model, temperature: 0,
      max_tokens: 12, prompt: "The capital of France is", ...extra });
  }

  async stream(extra, question) {
    return events(await this.chat({ ...extra, stream: true }, question));
  }

  // A prompt that no context holds: what came back for `ask(words)`, which is
  // tried with more and more of them.
  async overflow(ask) {
    for (const words of [8000, 80000]) {
      const r = await ask("word ".repeat(words));
      if (r.status !== 200) return r;
    }
    return ask("word ".repeat(1000000));
  }

  // The plain answer to the plain question, asked once.
  plain() {
    return this.once("plain", () => this.chat({}));
  }

  async plainStream() {
    const r = await this.once("stream", () => this.stream({}));
    served(r);
    return r;
  }

  async once(name, make) {
    if (!this.kept.has(name)) this.kept.set(name, await make());
    return this.kept.get(name);
  }
}

export const CAPITAL = "What is the capital of France?";

// What a stream said: its lines, its chunks, and what they add up to.
export function events(r) {
  const out = { ...r, lines: r.text.split("\n"), chunks: [], done: 0,
    after: 0, choices: [], content: "", reasoning: "", finish: [],
    usage: [] };
  for (const line of out.lines) {
    if (!line.startsWith("data: ")) continue;
    if (out.done) out.after++;
    if (line === "data: [DONE]") {
      out.done++;
      continue;
    }
    const chunk = JSON.parse(line.slice(6));
    out.chunks.push(chunk);
    if (chunk.usage) out.usage.push(chunk);
    for (const c of chunk.choices ?? []) {
      out.choices.push(c);
      out.content += c.delta?.content ?? c.text ?? "";
      out.reasoning += c.delta?.reasoning_content ?? "";
      if (c.finish_reason) out.finish.push(c.finish_reason);
    }
  }
  return out;
}

// Events that have names, as the two newer dialects send them.
export function named(r) {
  const out = { ...r, events: [] };
  for (const block of r.text.split("\n\n")) {
    const [name, data] = ["event", "data"].map((key) =>
      block.match(new RegExp(`^${key}: (.*)$`, "m"))?.[1]);
    if (name && data) out.events.push({ name, data: JSON.parse(data) });
  }
  return out;
}
