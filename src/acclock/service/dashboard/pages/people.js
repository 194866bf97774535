// Everybody who is enrolled: how they stand, check, export, delete.

import { ask, asSentence, personPath } from "../api.js";
import { sayDay } from "../dates.js";
import { alertLine, announce, attempt, confirm, make, row, table, tell } from "../dom.js";
import { lockIcon } from "../view.js";

export const title = "People";

export async function show(content, { role, signal }) {
  const alert = alertLine();
  const told = make("p", { class: "told", role: "status" });
  const place = make("div", { class: "panel" });
  content.append(make("h1", { tabindex: -1 }, title), alert, told, place);
  await refresh();

  async function refresh() {
    const [{ people }, { sessions }] = await Promise.all([ask("/v1/people", { signal }), ask("/v1/sessions", { signal })]);
    if (!people.length) {
      place.replaceChildren(make("p", {}, "Nobody is enrolled. ", role === "operator" ? make("a", { href: "#/enroll" }, "Enroll somebody") : null));
      return;
    }
    const rows = people.map((person) => row(person.name,
      stateOf(sessions.filter((one) => one.person === person.name)),
      sayDay(person.created),
      person.current ? `version ${person.version}, ${person.model}` : "its model is not here: acclock migrate, or enroll anew",
      role === "operator" ? actions(person) : ""));
    place.replaceChildren(table("Enrolled people", ["Name", "Now", "Enrolled", "Template", "Actions"], rows));
  }

  function actions({ name }) {
    const file = make("input", { type: "file", class: "unseen", tabindex: -1, "aria-hidden": "true" });
    file.addEventListener("change", attempt(alert, () => check(name, file)));
    return make("div", { class: "row" }, file,
      button("Check", `Check a recording against ${name}`, () => file.click()),
      button("Export", `Export all that is stored about ${name}`, attempt(alert, () => exportPerson(name))),
      button("Delete", `Delete ${name}`, attempt(alert, () => remove(name)), "danger"));
  }

  async function check(name, file) {
    const [body] = file.files;
    file.value = "";
    if (!body) return;
    tell(told, `Checking ${body.name}…`);
    const query = new URLSearchParams({ filename: body.name });
    const answer = await ask(`${personPath(name)}/verify?${query}`, { method: "POST", body });
    tell(told, `${body.name}: ${answer.decision}, confidence ${answer.confidence}. ${asSentence(answer.reason)}`);
  }

  async function remove(name) {
    const text = "The template, its key and every token about them are destroyed, and their sessions lock. This cannot be undone.";
    if (!(await confirm(`Delete ${name}?`, text, `Delete ${name}`))) return;
    const { erased } = await ask(personPath(name), { method: "DELETE" });
    tell(told, `${name} is deleted${erased ? ", and the bytes are gone from the files" : ""}.`);
    announce(`${name} is deleted`);
    await refresh();
    content.querySelector("h1").focus();
  }
}

function button(text, label, onclick, look = "quiet") {
  return make("button", { type: "button", class: `${look} small`, "aria-label": label, onclick }, text);
}

function stateOf(sessions) {
  if (!sessions.length) return make("span", { class: "muted" }, "no session");
  const shown = sessions.find((one) => one.state === "unlocked") ?? sessions[0];
  return make("span", { class: `chip ${shown.state}` }, lockIcon(shown.state), shown.state);
}

async function exportPerson(name) {
  const all = await ask(`${personPath(name)}/export`);
  const address = URL.createObjectURL(new Blob([JSON.stringify(all, null, 2)], { type: "application/json" }));
  make("a", { href: address, download: `${name}.json` }).click();
  URL.revokeObjectURL(address);
}
