// A daemon that stores nothing (responses-keep 0, the default): asking for it
// does no harm, and going on from it is refused by the setting's name.
import OpenAI from "openai";
import { ai, judged, said, types, whole, wire } from "./lib/responses.mjs";
import { done, is, ok, refusal } from "./lib/tap.mjs";

const quick = { temperature: 0, reasoning: { effort: "none" } };
const { BadRequestError, NotFoundError } = OpenAI;
for (const store of [undefined, true, false]) {
  const r = await whole({ ...quick, store, input: "My name is Anna." },
    `store ${store}`);
  is(r.store, false, `store ${store}: the answer says that it is not stored`);
  for (const method of ["retrieve", "delete", "cancel"])
    ok(await refusal(ai.responses[method](r.id)) instanceof NotFoundError,
      `store ${store}: ${method} is NotFoundError`);
  ok(await refusal(ai.responses.inputItems.list(r.id))
    instanceof NotFoundError, `store ${store}: no input items`);
  const e = await refusal(ai.responses.create({ model: "demo", ...quick,
    previous_response_id: r.id, input: "What is my name?" }));
  ok(e instanceof BadRequestError, `store ${store}: nothing goes on from it`);
  is(e.param, "previous_response_id", `store ${store}: which is named`);
  ok(/responses-keep/.test(e.message), `store ${store}: ${e.message}`);
  types.error(JSON.parse(wire.last().text), `store ${store}`);
  const next = await whole({ ...quick, store, input: [
    { role: "user", content: "My name is Anna." }, ...r.output,
    { role: "user", content: "What is my name?" }] }, `items, ${store}`);
  ok(/Anna/.test(said(next)), `store ${store}: its items do`);
}
judged();
done();
