// What both routes send, as the official packages declare it. Members that are
// our own and documented (docs/api.md) are taken off before; so is `store`,
// which OpenAI's service sends and the package does not declare.
import { Types } from "./types.mjs";

const own = ["timings", "metrics", "skipped_tools", "store"];

export function withoutOwn(object) {
  return Object.fromEntries(Object.entries(object).filter(
    ([key]) => !own.includes(key)));
}

// Ours tells of a call that was cut, whose type has no status.
function cut(item) {
  if (item?.type !== "custom_tool_call" || item.status !== "incomplete")
    return item;
  const { status: _, ...rest } = item;
  return rest;
}

// The package itself adds output_text (its lib/ResponsesParser); servers send
// none, and one that did would be found.
function response(r) {
  return { ...withoutOwn(r), output: r.output?.map(cut),
    output_text: "output_text" in r ? { sent: r.output_text } : "" };
}

export function openaiTypes() {
  const t = new Types({
    Response: "openai/resources/responses/responses",
    ResponseStreamEvent: "openai/resources/responses/responses",
    ResponseItemList: "openai/resources/responses/input-items",
    InputTokenCountResponse: "openai/resources/responses/input-tokens",
    ErrorObject: "openai/resources/shared",
  });
  t.define("ErrorBody", "{ error: ErrorObject }");
  return Object.assign(t, {
    response: (r, name) => t.claim("Response", response(r), name),
    stream: (events, name) => events.forEach((e, i) =>
      t.claim("ResponseStreamEvent",
        e.response ? { ...e, response: response(e.response) }
          : e.item ? { ...e, item: cut(e.item) } : e,
        `${name}, event ${i} ${e.type}`)),
    error: (e, name) => t.claim("ErrorBody", e, name),
    items: (l, name) => t.claim("ResponseItemList", l, name),
    tokens: (c, name) => t.claim("InputTokenCountResponse", c, name),
  });
}

export function anthropicTypes() {
  const messages = "@anthropic-ai/sdk/resources/messages/messages";
  const t = new Types({
    Message: messages, RawMessageStreamEvent: messages,
    MessageTokensCount: messages,
    ErrorResponse: "@anthropic-ai/sdk/resources/shared",
    ModelInfo: "@anthropic-ai/sdk/resources/models",
  });
  t.define("ModelPage", "{ data: ModelInfo[]; has_more: boolean; "
    + "first_id: string | null; last_id: string | null }");
  return Object.assign(t, {
    message: (m, name) => t.claim("Message", withoutOwn(m), name),
    stream: (events, name) => events.forEach((e, i) =>
      t.claim("RawMessageStreamEvent", withoutOwn(
        e.message ? { ...e, message: withoutOwn(e.message) } : e),
      `${name}, event ${i} ${e.type}`)),
    error: (e, name) => t.claim("ErrorResponse", e, name),
    tokens: (c, name) => t.claim("MessageTokensCount", c, name),
    models: (p, name) => t.claim("ModelPage", p, name),
  });
}
