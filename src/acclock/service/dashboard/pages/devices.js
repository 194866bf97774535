// Who may call: tokens of devices, viewers, operators and relying parties.

import { ask } from "../api.js";
import { sayMoment } from "../dates.js";
import { alertLine, announce, attempt, change, choice, confirm, field, make, row, table, tell } from "../dom.js";

export const title = "Devices";

const DAY_S = 86400;
const BOUND = ["device", "relying-party"];
const ROLES = [["device", "device"], ["relying-party", "relying party"], ["viewer", "viewer"], ["operator", "operator"]];
const MEANINGS = {
  device: "Streams for one person.", "relying-party": "Asks about one person.",
  viewer: "Sees this dashboard.", operator: "May do everything.",
};
const DURATIONS = [[DAY_S, "a day"], [30 * DAY_S, "30 days"], [365 * DAY_S, "a year"]];

export async function show(content, { role, signal }) {
  content.append(make("h1", { tabindex: -1 }, title));
  if (role !== "operator") {
    content.append(make("p", { class: "panel" }, "Tokens are an operator's to see and make."));
    return;
  }
  const alert = alertLine();
  const place = make("div", { class: "panel" });
  const { people } = await ask("/v1/people", { signal });
  content.append(make("p", { class: "lead" }, "A device streams with a token that is good for one person only."),
    alert, place, makeForm(people, refresh));
  await refresh();

  async function refresh() {
    const { tokens } = await ask("/v1/tokens", { signal });
    const rows = tokens.map((token) => row(token.note || token.token.slice(0, 8),
      token.role, token.person ?? "", sayMoment(1000 * token.created), sayMoment(1000 * token.expires),
      make("button", { type: "button", class: "danger small", "aria-label": `Revoke ${token.note || token.token.slice(0, 8)}`, onclick: attempt(alert, () => revoke(token)) }, "Revoke")));
    change(place, table("Tokens", ["Token", "Role", "Person", "Made", "Expires", "Actions"], rows));
  }

  async function revoke(token) {
    const text = "Streams that it opened end within a second, and their sessions lock. If it is your own, you are logged out.";
    if (!(await confirm("Revoke this token?", text, "Revoke"))) return;
    await ask(`/v1/tokens/${token.token}`, { method: "DELETE" });
    announce(`The token ${token.note || token.token.slice(0, 8)} is revoked`);
    await refresh();
  }
}

function makeForm(people, refresh) {
  const role = choice(ROLES);
  const person = choice(people.map(({ name }) => [name, name]));
  const duration = choice(DURATIONS);
  const note = make("input", { maxlength: 64, autocomplete: "off" });
  const secret = make("output", { class: "secret" });
  const alert = alertLine();
  const personField = field("Person", person);
  const roleField = field("Role", role, MEANINGS.device);
  role.addEventListener("change", () => {
    personField.hidden = !BOUND.includes(role.value);
    tell(roleField.querySelector(".hint"), MEANINGS[role.value]);
  });
  const create = attempt(alert, async () => {
    const bound = BOUND.includes(role.value);
    if (bound && !person.value) throw new Error("Enroll somebody first: this token is for one person.");
    const json = { role: role.value, duration_s: Number(duration.value), note: note.value };
    if (bound) json.person = person.value;
    const made = await ask("/v1/tokens", { method: "POST", json });
    tell(secret, made.secret);
    secret.hidden = false;
    await refresh();
  });
  secret.hidden = true;
  return make("form", { class: "panel form", onsubmit: create }, make("h2", {}, "Make a token"),
    make("div", { class: "grid" }, roleField, personField, field("Good for", duration), field("Note", note, "Which device or who.")),
    alert, make("button", { class: "primary" }, "Make it"),
    make("p", { class: "hint" }, "The secret is shown here, this once."), secret);
}
