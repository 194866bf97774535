// One session in full: the lock and why, the figures, the heartbeat and what happened.

import { asSentence } from "./api.js";
import { announce, draw, make, tell } from "./dom.js";
import { Timeline } from "./timeline.js";
import { Trace } from "./trace.js";

const LEVELS = ["low", "medium", "high"];

export function lockIcon(state) {
  const shackle = state === "unlocked" ? "M8 11V7a4 4 0 0 1 7.6-1.7" : "M8 11V7a4 4 0 0 1 8 0v4";
  return draw("svg", { class: "lock", viewBox: "0 0 24 24", "aria-hidden": "true" },
    draw("path", { d: shackle, fill: "none", stroke: "currentColor", "stroke-width": 2.2, "stroke-linecap": "round" }),
    draw("rect", { x: 5, y: 11, width: 14, height: 10, rx: 2.5, fill: "currentColor" }));
}

export function levels() {
  const bars = LEVELS.map(() => make("i"));
  const word = make("span");
  const element = make("span", { class: "levels" }, make("span", { class: "bars", "aria-hidden": "true" }, bars), word);
  return {
    element,
    show(confidence) {
      const reached = LEVELS.indexOf(confidence);
      bars.forEach((bar, place) => bar.classList.toggle("on", place <= reached));
      element.dataset.level = confidence;
      tell(word, confidence);
    },
  };
}

export function qualityWord(clarity) {
  if (clarity === undefined || clarity === null) return "unknown";
  return clarity >= 0.6 ? "clear" : clarity >= 0.3 ? "fair" : "poor";
}

export class SessionView {
  #lock = make("div", { class: "state" });
  #word = make("strong", { class: "word" });
  #reason = make("span", { class: "reason" });
  #window = make("p", { class: "muted window" });
  #pulse = make("dd");
  #quality = make("dd");
  #meter = make("meter", { min: 0, max: 1, low: 0.3, high: 0.6, optimum: 1, "aria-hidden": "true" });
  #qualityWord = make("span");
  #confidence = levels();
  #device = make("dd");
  #evidence = make("dd");
  #timeline = new Timeline();
  #trace = new Trace();
  #state = null;

  constructor({ traced = true, operator = true } = {}) {
    this.#quality.append(this.#meter, " ", this.#qualityWord);
    const figures = [
      ["Heart rate", this.#pulse], ["Signal", this.#quality],
      ["Confidence", make("dd", {}, this.#confidence.element)], ["Device", this.#device],
    ];
    if (operator) figures.push(["Evidence", this.#evidence]);
    this.element = make("div", { class: "session" },
      this.#lock,
      make("dl", { class: "figures" }, figures.map(([name, figure]) => make("div", {}, make("dt", {}, name), figure))),
      traced ? this.#trace.element : null,
      this.#timeline.element);
  }

  update(session) {
    if (session.state !== this.#state) this.#showState(session);
    tell(this.#reason, asSentence(session.sentence));
    tell(this.#window, session.window === session.reason ? "" : `Last window: ${session.window_sentence}.`);
    tell(this.#pulse, session.heart_rate_bpm ? `${Math.round(session.heart_rate_bpm)} bpm` : "none yet");
    this.#meter.value = session.clarity ?? 0;
    tell(this.#qualityWord, qualityWord(session.clarity));
    this.#confidence.show(session.confidence);
    tell(this.#device, session.device ?? "unknown");
    tell(this.#evidence, evidenceWord(session));
    this.#timeline.note(session);
  }

  change(kind, session) {
    this.update(session);
    this.#timeline.tell(kind, session);
    if (kind === "locked" || kind === "unlocked") {
      announce(`${session.person} is ${session.state}: ${session.sentence}`);
    }
  }

  trace(message) {
    this.#trace.push(message);
  }

  #showState({ state }) {
    this.#state = state;
    this.#lock.className = `state ${state}`;
    tell(this.#word, state === "unlocked" ? "Unlocked" : "Locked");
    this.#lock.replaceChildren(lockIcon(state), make("div", {}, this.#word, this.#reason, this.#window));
  }
}

function evidenceWord({ nats, lockout_s: lockout }) {
  if (lockout > 0) return `locked out for ${Math.ceil(lockout)} s`;
  return nats === undefined ? "" : `${nats >= 0 ? "+" : "−"}${Math.abs(nats).toFixed(1)} nats`;
}
