// H: tools that are offered, and calls that come back in the history.
import { is, ok, oneOf, rule, served } from "./rules.mjs";

const tools = [{ type: "function", function: { name: "set_timer",
  description: "Set a timer", parameters: { type: "object",
    properties: { minutes: { type: "integer" } },
    required: ["minutes"] } } }];
const ask = "Set a timer for 18 minutes.";
const call = { id: "call_1", type: "function",
  function: { name: "set_timer", arguments: "{\"minutes\":18}" } };
const history = (assistant) => ({ tools, max_tokens: 2, messages: [
  { role: "user", content: ask }, { role: "assistant", ...assistant },
  { role: "tool", tool_call_id: "call_1", content: "ok" }] });

const isCall = (c) => {
  ok(typeof c.id === "string" && c.id, "id");
  is(c.type, "function", "type");
  is(c.function.name, "set_timer", "name");
  ok(JSON.parse(c.function.arguments) instanceof Object, "arguments");
};

rule("H01", "tools with tool_choice auto, none or absent are served",
  async (s) => {
    for (const tool_choice of [undefined, "auto", "none"])
      served(await s.chat({ tools, tool_choice, max_tokens: 4 }, ask));
  });
rule("H02", "a call has id, type, name and JSON arguments", async (s) => {
  const c = served(await s.chat({ tools }, ask)).choices[0];
  if (!c.message.tool_calls) {
    oneOf(c.finish_reason, ["stop", "length"], "finish_reason");
    return;
  }
  is(c.finish_reason, "tool_calls", "finish_reason");
  c.message.tool_calls.forEach(isCall);
});
rule("H03", "a streamed call: id and name once, arguments in pieces",
  async (s) => {
    const plain = served(await s.chat({ tools }, ask)).choices[0].message;
    const r = await s.stream({ tools }, ask);
    const deltas = r.choices.flatMap((c) => c.delta.tool_calls ?? []);
    const calls = [];
    for (const d of deltas) {
      if (d.id) {
        is(calls[d.index], undefined, "a second id");
        calls[d.index] = { type: d.type, function: { name: d.function.name,
          arguments: "" }, id: d.id };
      }
      calls[d.index].function.arguments += d.function.arguments ?? "";
    }
    calls.forEach(isCall);
    const told = (list) => (list ?? []).map((c) => c.function);
    is(told(calls), told(plain.tool_calls), "calls");
    is(r.finish, [calls.length ? "tool_calls" : "stop"], "finish reasons");
  });
rule("H04", "tool_choice none makes no call", async (s) => {
  const c = served(await s.chat({ tools, tool_choice: "none" }, ask))
    .choices[0];
  ok(!c.message.tool_calls, "a call");
  oneOf(c.finish_reason, ["stop", "length"], "finish_reason");
});
rule("H05", "an answer of calls can be sent back: content null", async (s) =>
  served(await s.chat(history({ content: null, tool_calls: [call] }))));
rule("H06", "the same without content and with an empty one: one prompt",
  async (s) => {
    const counts = new Set();
    for (const a of [{ content: null }, {}, { content: "" }])
      counts.add(served(await s.chat(history({ ...a, tool_calls: [call] })))
        .usage.prompt_tokens);
    is(counts.size, 1, "sizes of the prompt");
  });
rule("H07", "two calls in one turn, results in their order", async (s) =>
  served(await s.chat({ tools, max_tokens: 2, messages: [
    { role: "user", content: ask },
    { role: "assistant", content: null,
      tool_calls: [call, { ...call, id: "call_2" }] },
    { role: "tool", tool_call_id: "call_1", content: "ok" },
    { role: "tool", tool_call_id: "call_2", content: "ok" }] })));
rule("H08", "a tool result as text parts", async (s) => {
  const body = history({ content: null, tool_calls: [call] });
  body.messages[2].content = [{ type: "text", text: "ok" }];
  served(await s.chat(body));
});
rule("H09", "what the server sent is taken back as it is", async (s) => {
  const { message } = served(await s.chat({ tools }, ask)).choices[0];
  if (!message.tool_calls) return;
  served(await s.chat({ tools, max_tokens: 2, messages: [
    { role: "user", content: ask }, message,
    ...message.tool_calls.map((c) => ({ role: "tool", tool_call_id: c.id,
      content: "ok" }))] }));
});
rule("H10", "parallel_tool_calls false and strict true are served",
  async (s) => {
    const strict = [{ type: "function", function: { name: "f", strict: true,
      parameters: { type: "object", properties: {}, required: [],
        additionalProperties: false } } }];
    served(await s.chat({ tools: strict, parallel_tool_calls: false,
      max_tokens: 4 }));
  });
rule("H11", "tools count in the prompt, and not with tool_choice none",
  async (s) => {
    const size = async (extra) => served(await s.chat({ max_tokens: 2,
      ...extra }, ask)).usage.prompt_tokens;
    const bare = await size({});
    ok(await size({ tools }) > bare, "the model does not hear of them");
    ok(await size({ tools, tool_choice: "none" }) <= await size({ tools }),
      "more with none");
  });
