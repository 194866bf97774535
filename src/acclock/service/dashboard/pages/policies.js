// How strict sessions are, side by side.

import { ask } from "../api.js";
import { make, row, table } from "../dom.js";

export const title = "Policies";

const MEANINGS = {
  step_s: ["A window is judged every", "s"],
  cohort_factor: ["Strangers that a session may enclose", "× those of the threshold"],
  wearing_factor: ["The same around a proven wearing", "× those of the threshold"],
  proof_nats: ["Evidence that proves a wearing", "nats"],
  proof_s: ["Shortest proof", "s"],
  entry_nats: ["Evidence that opens by heartbeat alone", "nats"],
  entry_s: ["Shortest proof by heartbeat alone", "s"],
  revoke_nats: ["Evidence that ends a session", "nats"],
  confirm_s: ["A grant must be confirmed within", "s"],
  grace_s: ["Trust without renewal lasts", "s"],
  resume_s: ["Resuming after a shake or motion within", "s"],
  stall_s: ["Longest silence", "s"],
  most_lost: ["Most samples that may be lost", "%"],
  episodes: ["Strangers until lockout", ""],
  lockout_s: ["First lockout", "s"],
  longest_lockout_s: ["Longest lockout", "s"],
};
const ENTRIES = { grant: "another factor opens a session, the heartbeat keeps it open", heartbeat: "the heartbeat alone opens a session" };

export async function show(content, { signal }) {
  const { used, policies } = await ask("/v1/policies", { signal });
  const heads = policies.map(({ name }) => (name === used.name ? make("span", {}, name, " ", make("span", { class: "chip used" }, "in use")) : name));
  const rows = Object.keys(used.numbers).map((number) => {
    const [meaning, unit] = MEANINGS[number] ?? [number, ""];
    return row(meaning, ...policies.map(({ numbers }) => say(number, numbers[number], unit)));
  });
  content.append(make("h1", { tabindex: -1 }, title),
    make("p", { class: "lead" }, `In use: ${used.name}; ${ENTRIES[used.entry]}.`),
    make("div", { class: "panel numbers" }, table("Policies", ["", ...heads], rows)),
    make("p", { class: "hint" }, "The service is started with one of them: acclock serve --policy strict. A stream of an operator may ask for another."));
}

function say(number, value, unit) {
  if (number === "resume_s" && value === 0) return "never";
  if (number === "most_lost") return `${100 * value} %`;
  return `${value} ${unit}`.trim();
}
