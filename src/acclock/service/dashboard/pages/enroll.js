// A wizard that coaches: who and consent, from what, then listening until there is enough.

import { ask } from "../api.js";
import { makeCoach } from "../coach.js";
import { alertLine, announce, attempt, choice, field, make, tell } from "../dom.js";
import { hasBluetooth } from "../open_earable.js";
import { fetchWearer, WEARERS } from "../recordings.js";
import { BLUETOOTH, wear } from "../wearing.js";

export const title = "Enroll";

const STEPS = ["Who", "From what", "Listen", "Done"];
const CONSENT = "dashboard-1: a template of the heartbeat is kept until deleted";

export function show(content, { role, signal }) {
  content.append(make("h1", { tabindex: -1 }, title));
  if (role !== "operator") {
    content.append(make("p", { class: "panel" }, "Enrolling needs an operator's token."));
    return;
  }
  const steps = make("ol", { class: "steps", "aria-label": "Steps" }, STEPS.map((step) => make("li", {}, step)));
  const place = make("div", { class: "panel" });
  content.append(steps, place);
  const go = (number, parts) => {
    [...steps.children].forEach((step, at) => {
      step.classList.toggle("past", at < number);
      if (at === number) step.setAttribute("aria-current", "step");
      else step.removeAttribute("aria-current");
    });
    place.replaceChildren(...parts);
    place.querySelector("input, select, button, h2")?.focus();
  };
  const visit = crypto.getRandomValues(new Uint32Array(4)).join("-");
  askWho({ go, signal, visit, name: "" });
}

function askWho(wizard) {
  const name = make("input", { name: "name", required: true, maxlength: 64, autocomplete: "off", value: wizard.name });
  const agreed = make("input", { type: "checkbox", id: "agreed", required: true });
  const alert = alertLine();
  const next = attempt(alert, async () => {
    const { people } = await ask("/v1/people");
    if (people.some((person) => person.name === name.value.trim())) throw new Error(`The name ${name.value} is taken.`);
    askSource({ ...wizard, name: name.value.trim() });
  });
  wizard.go(0, [make("form", { class: "form", onsubmit: next },
    field("Name", name, "As it will be shown here. The log knows people by a number only."),
    make("div", { class: "row" }, agreed, make("label", { for: "agreed" },
      "They agreed that a template of their heartbeat is kept here, and know that it is deleted when they ask.")),
    alert, make("button", { class: "primary" }, "Next"))]);
}

function askSource(wizard, told = "") {
  const sources = [
    ["file", "A recording"],
    ...WEARERS.map(([name, text]) => [`recorded:${name}`, `${text}, simulated, recorded before (seconds)`]),
    ...WEARERS.map(([name, text]) => [`live:${name}`, `${text}, simulated, live (about two minutes)`]),
  ];
  if (hasBluetooth()) sources.push([BLUETOOTH, "An OpenEarable, by Bluetooth (two to six minutes)"]);
  const source = choice(sources);
  const file = make("input", { type: "file" });
  const filed = field("Recording", file, "Two minutes at least, six are better; worn and still. Any format that AccLock reads.");
  source.addEventListener("change", () => (filed.hidden = source.value !== "file"));
  const alert = alertLine();
  tell(alert, told);
  const next = attempt(alert, async () => {
    const [kind, wearer] = source.value.split(":");
    if (kind === "file" && !file.files.length) throw new Error("Choose a recording first.");
    if (kind === "file") await upload(wizard, file.files[0], file.files[0].name);
    else if (kind === "recorded") await upload(wizard, await fetchWearer(wearer, 1), `${wearer}.oe`);
    else await listen(wizard, wearer ?? BLUETOOTH);
  });
  wizard.go(1, [make("form", { class: "form", onsubmit: next },
    field("Source", source), filed, alert,
    make("div", { class: "row" }, make("button", { class: "primary" }, "Begin"),
      make("button", { type: "button", class: "quiet", onclick: () => askWho(wizard) }, "Back")))]);
}

async function upload(wizard, body, filename) {
  wizard.go(2, [make("h2", { tabindex: -1 }, `Reading the recording of ${wizard.name}`), make("progress", { "aria-label": "Working" })]);
  const query = new URLSearchParams({ name: wizard.name, consent: CONSENT, filename });
  try {
    // An answer that was lost may be asked for again: the same recording is not enrolled twice.
    const key = `${wizard.visit}-${body.byteLength ?? body.size}`;
    const headers = { "Idempotency-Key": key, "Content-Type": "application/octet-stream" };
    await ask(`/v1/people?${query}`, { method: "POST", body, headers });
  } catch (error) {
    askSource(wizard, error.message);
    return;
  }
  finish(wizard);
}

async function listen(wizard, wearer) {
  const coach = makeCoach(wizard.name);
  let worn = null;
  const stop = () => worn?.stop();
  worn = await wear(wearer, {
    session: 1,
    hello: { person: wizard.name, purpose: "enroll", consent: CONSENT },
    hear(message) {
      if (message.type === "progress") coach.progress(message);
      if (message.type === "enrolled") coach.enrolled = true;
      if (message.type === "closed") {
        stop();
        if (coach.enrolled) finish(wizard);
        else coach.fail(message.error?.message ?? "The stream ended; nothing was stored.");
      }
    },
  });
  wizard.signal.addEventListener("abort", stop, { once: true });
  const done = () => worn.stream.say({ type: "finish" });
  const back = () => {
    stop();
    askSource(wizard);
  };
  wizard.go(2, coach.begin({ done, back }));
}

function finish(wizard) {
  announce(`${wizard.name} is enrolled`);
  wizard.go(3, [make("h2", { tabindex: -1 }, `${wizard.name} is enrolled`),
    make("p", {}, "The template is encrypted; what was recorded is gone."),
    make("p", { class: "row" }, make("a", { class: "button", href: "#/try" }, "Try it"), make("a", { class: "button", href: "#/people" }, "See everybody"))]);
}
