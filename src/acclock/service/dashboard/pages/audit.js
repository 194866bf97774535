// What happened to the vault, newest first.

import { ask } from "../api.js";
import { sayMoment } from "../dates.js";
import { field, make, row, table, tell } from "../dom.js";

export const title = "Audit";

export async function show(content, { role, signal }) {
  content.append(make("h1", { tabindex: -1 }, title));
  if (role !== "operator") {
    content.append(make("p", { class: "panel" }, "The log is an operator's to read."));
    return;
  }
  const [{ events, total }, { people }] = await Promise.all([ask("/v1/audit?last=500", { signal }), ask("/v1/people", { signal })]);
  const names = new Map(people.map(({ person, name }) => [person, name]));
  const sought = make("input", { type: "search", autocomplete: "off" });
  const counted = make("p", { class: "hint", role: "status" });
  const place = make("div", { class: "panel" });
  const lines = events.reverse().map((event) => ({ ...event, who: whoIs(event.person, names) }));

  function refresh() {
    const word = sought.value.toLowerCase();
    const found = lines.filter((one) => `${one.kind} ${one.who} ${one.note ?? ""}`.toLowerCase().includes(word));
    tell(counted, `${found.length} of ${total} events; the chain that links them is whole.`);
    place.replaceChildren(table("Events", ["Number", "When", "What", "Who", "Version", "Note"], found.map((one) =>
      row(String(one.number), sayMoment(one.time, { seconds: true }), one.kind, one.who, one.version ?? "", one.note ?? ""))));
  }

  sought.addEventListener("input", refresh);
  content.append(field("Search", sought), counted, place);
  refresh();
}

function whoIs(person, names) {
  if (person === null) return "";
  return names.get(person) ?? `${person.slice(0, 8)} (deleted)`;
}
