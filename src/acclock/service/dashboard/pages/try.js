// Stream a wearer from this page, then let somebody else wear it and see the lock fall.

import { ask, personPath } from "../api.js";
import { alertLine, attempt, change, choice, field, make, tell } from "../dom.js";
import { hasBluetooth } from "../open_earable.js";
import { WEARERS } from "../recordings.js";
import { SessionView } from "../view.js";
import { BLUETOOTH, UPLOADED, sayWearer, wear } from "../wearing.js";

const GRANTED_S = 3600;

export const title = "Try it";

let running = null; // a stream goes on while other pages are looked at

export async function show(content, { role }) {
  content.append(make("h1", { tabindex: -1 }, title),
    make("p", { class: "lead" }, "Stream a wearer from this page, swap the wearer, and watch the lock. The people are simulated, or bring a recording or an earphone of your own."));
  if (role !== "operator") {
    content.append(make("p", { class: "panel" }, "Streaming from here needs an operator's token."));
    return;
  }
  const place = make("div");
  content.append(place);
  if (running) showRunning(place);
  else await showForm(place);
}

export function stopTrying() {
  running?.worn.stop();
  running = null;
}

async function showForm(place, told = "") {
  const { people } = await ask("/v1/people");
  if (!people.length) {
    place.replaceChildren(make("p", { class: "panel" }, "Nobody is enrolled yet. ", make("a", { href: "#/enroll" }, "Enroll somebody first"), "."));
    return;
  }
  const person = choice(people.map(({ name }) => [name, name]), { name: "person" });
  const wearers = WEARERS.map(([name, text]) => [name, `${text}, simulated`]);
  wearers.push([UPLOADED, "a recording of mine"]);
  if (hasBluetooth()) wearers.push([BLUETOOTH, "an OpenEarable, by Bluetooth"]);
  const wearer = choice(wearers, { name: "wearer" });
  const file = make("input", { type: "file", name: "file", accept: ".oe,.csv,.txt" });
  const filed = field("Recording", file, "An .oe file, or a table with columns time, x, y, z.");
  const entry = choice([["grant", "another factor"], ["heartbeat", "the heartbeat alone"]]);
  const policy = choice([["strict", "strict"], ["balanced", "balanced"], ["comfortable", "comfortable"]]);
  policy.value = "balanced";
  const known = WEARERS.map(([name]) => name);
  const match = () => known.includes(person.value.toLowerCase()) && (wearer.value = person.value.toLowerCase());
  const reveal = () => (filed.hidden = wearer.value !== UPLOADED);
  person.addEventListener("change", () => (match(), reveal()));
  wearer.addEventListener("change", reveal);
  match();
  reveal();
  const alert = alertLine();
  tell(alert, told);
  const form = make("form", {
    class: "panel form",
    onsubmit: attempt(alert, () => start(place, {
      person: person.value, wearer: wearer.value, file: file.files[0] ?? null, entry: entry.value, policy: policy.value,
    })),
  },
  make("div", { class: "grid" },
    field("Whose session", person, "The earphone says that this person wears it."),
    field("Who wears it", wearer, "In a later session than the one they enrolled with."),
    field("What opens it", entry, "The heartbeat keeps it open; alone it takes about 40 s."),
    field("Policy", policy)),
  filed, alert, make("button", { class: "primary" }, "Start streaming"));
  change(place, form);
}

async function start(place, wanted) {
  if (wanted.wearer === UPLOADED && !wanted.file) throw new Error("Choose a recording first.");
  const view = new SessionView();
  const worn = await wear(wanted.wearer, {
    file: wanted.file,
    hello: { person: wanted.person, purpose: "watch", policy: wanted.policy, entry: wanted.entry, trace: true },
    hear: (message) => hear(message),
  });
  running = { ...wanted, worn, view, place, session: worn.stream.ready };
  view.update(worn.stream.ready);
  showRunning(place);
}

function hear(message) {
  if (!running) return;
  if (message.type === "trace") running.view.trace(message);
  if (message.type === "decision") running.view.update((running.session = message));
  if (message.type === "change") running.view.change(message.kind, (running.session = message));
  if (message.type === "closed") {
    const { place } = running;
    stopTrying();
    if (place.isConnected) showForm(place, message.error?.message ?? "");
  }
}

function showRunning(place) {
  running.place = place;
  const alert = alertLine();
  const now = make("p", { class: "wearer", role: "status" });
  const say = () => tell(now, `${sayWearer(running.wearer)}; it should be ${running.person}.`);
  const file = make("input", { type: "file", accept: ".oe,.csv,.txt", "aria-label": "Recording of another wearer" });
  file.addEventListener("change", attempt(alert, () => swap(UPLOADED, file.files[0])));

  async function swap(wearer, chosen) {
    await running.worn.swap(wearer, chosen);
    running.wearer = wearer;
    running.view.change("swapped", { ...running.session, at: Date.now() / 1000 });
    for (const button of swaps) button.setAttribute("aria-pressed", String(button.value === wearer));
    say();
  }

  const swaps = running.worn.swap === null ? [] : WEARERS.map(([name, text]) => make("button", {
    type: "button", class: "quiet", value: name, "aria-pressed": String(name === running.wearer),
    onclick: attempt(alert, () => swap(name, null)),
  }, text));
  const grant = () => ask(`${personPath(running.person)}/grant`, { method: "POST", json: { duration_s: GRANTED_S } });
  say();
  change(place, make("section", { class: "panel", "aria-label": "The stream" },
    make("div", { class: "row spread" }, make("h2", {}, running.person), now),
    make("div", { class: "row controls" },
      running.entry === "grant" ? make("button", { type: "button", class: "primary", onclick: attempt(alert, grant) }, "Open with another factor") : null,
      make("button", { type: "button", class: "quiet", onclick: () => running.worn.stream.say({ type: "removed" }) }, "Take it out"),
      make("button", { type: "button", class: "quiet", onclick: () => { stopTrying(); showForm(place); } }, "Stop"),
      swaps.length ? make("fieldset", { class: "row swaps" }, make("legend", {}, "Swap the wearer"), swaps, file) : null),
    alert, running.view.element));
}
