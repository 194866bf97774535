// Who is wearing what now.

import { ask, asSentence, personPath } from "../api.js";
import { Board } from "../board.js";
import { alertLine, announce, attempt, make, tell } from "../dom.js";
import { follow } from "../events.js";
import { levels, lockIcon, SessionView } from "../view.js";

const GRANTED_S = 3600;
const SETTLED_MS = 300; // by then every live session has been told

export const title = "Now";

export function show(content, { role, signal }) {
  const summary = make("p", { class: "lead" });
  const list = make("ul", { class: "cards", "aria-label": "Live sessions" });
  const detail = make("section", { class: "panel detail", "aria-label": "Chosen session", hidden: true });
  const empty = make("p", { class: "panel" }, "Nobody wears anything right now. ",
    make("a", { href: "#/try" }, "Try it with a simulated wearer"), " or let an earphone stream.");
  content.append(make("h1", { tabindex: -1 }, title), summary, empty, make("div", { class: "split" }, list, detail));

  const cards = new Map();
  let chosen = null;
  let waiting = false;

  const board = new Board((kind, session) => {
    if (chosen?.session === session.session) {
      if (kind === "session") chosen.view.update(session);
      else chosen.view.change(kind, session);
    } else if (kind === "locked" || kind === "unlocked") {
      announce(`${session.person} is ${session.state}: ${session.sentence}`);
    }
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(refresh);
  });

  function refresh() {
    waiting = false;
    for (const [number, card] of cards) {
      if (!board.sessions.has(number)) {
        card.element.remove();
        cards.delete(number);
      }
    }
    for (const session of board.sorted) cardOf(session).update(session);
    const open = board.sorted.filter((one) => one.state === "unlocked").length;
    tell(summary, `${count(board.sessions.size, "live session")}, ${open} unlocked`);
    empty.hidden = board.sessions.size > 0;
    list.hidden = !empty.hidden;
    if (chosen && !board.sessions.has(chosen.session)) choose(null);
    if (!chosen && board.sessions.size) choose(board.sorted[0]);
  }

  function cardOf(session) {
    if (!cards.has(session.session)) {
      const card = makeCard(() => choose(board.sessions.get(session.session)));
      cards.set(session.session, card);
      list.append(card.element);
    }
    return cards.get(session.session);
  }

  function choose(session) {
    chosen?.end.abort();
    chosen = null;
    detail.hidden = session === null;
    if (session === null) return;
    const end = new AbortController();
    signal.addEventListener("abort", () => end.abort(), { signal: end.signal });
    const view = new SessionView({ traced: role === "operator", operator: role === "operator" });
    chosen = { session: session.session, view, end };
    detail.replaceChildren(...describe(session, view, role));
    view.update(session);
    for (const [number, card] of cards) card.choose(number === session.session);
    if (role === "operator") followTrace(session, view, end.signal);
  }

  refresh();
  board.follow({
    signal,
    state(word) {
      content.classList.toggle("lost", word === "lost");
      if (word === "open") setTimeout(refresh, SETTLED_MS);
      else tell(summary, "The service does not answer: what is shown is old, and nobody is vouched for.");
    },
  });
}

function followTrace(session, view, signal) {
  const path = `/v1/events?trace=true&person=${encodeURIComponent(session.person)}`;
  follow(path, ({ kind, data }) => {
    if (kind === "trace" && data.session === session.session) view.trace(data);
  }, { signal });
}

function describe(session, view, role) {
  const alert = alertLine();
  const grant = attempt(alert, () =>
    ask(`${personPath(session.person)}/grant`, { method: "POST", json: { duration_s: GRANTED_S } }));
  const open = role === "operator"
    ? make("button", { type: "button", class: "quiet", onclick: grant, title: "Vouch for them as another factor would" }, "Open for an hour")
    : null;
  return [make("div", { class: "row spread" }, make("h2", {}, session.person), open), alert, view.element];
}

function makeCard(choose) {
  const icon = make("span", { class: "icon" });
  const name = make("strong");
  const device = make("span", { class: "muted" });
  const reason = make("span", { class: "reason" });
  const pulse = make("span", { class: "pulse" });
  const confidence = levels();
  const button = make("button", { type: "button", class: "card", onclick: choose, "aria-pressed": "false" },
    icon, make("span", { class: "who" }, name, device, reason), make("span", { class: "measure" }, pulse, confidence.element));
  let state = null;
  return {
    element: make("li", {}, button),
    choose: (chosen) => button.setAttribute("aria-pressed", String(chosen)),
    update(session) {
      if (session.state !== state) {
        state = session.state;
        icon.replaceChildren(lockIcon(state));
        button.dataset.state = state;
      }
      tell(name, session.person);
      tell(device, session.device ?? "");
      tell(reason, `${state === "unlocked" ? "Unlocked" : "Locked"}. ${asSentence(session.sentence)}`);
      tell(pulse, session.heart_rate_bpm ? `${Math.round(session.heart_rate_bpm)} bpm` : "no pulse");
      confidence.show(session.confidence);
    },
  };
}

function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
