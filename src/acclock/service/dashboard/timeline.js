// What a session was over the last minutes: its color is the state, its height the confidence.

import { make } from "./dom.js";
import { color, penOf } from "./trace.js";

const SHOWN_S = 180;
const HEIGHTS = { low: 0.34, medium: 0.67, high: 1 };
const MOST_CHANGES = 8;
const KINDS = {
  started: "stream began", unlocked: "unlocked", locked: "locked", lockout: "locked out",
  confidence: "confidence changed", stopped: "stream ended", swapped: "wearer swapped",
};

export function clock(at) {
  return new Date(at * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
}

export class Timeline {
  #past = [];
  #changes = make("ol", { class: "changes", "aria-label": "What happened, newest first", reversed: true });

  constructor() {
    this.canvas = make("canvas", { class: "strip", role: "img", "aria-label": "Lock state of the last three minutes" });
    this.element = make("div", {}, this.canvas,
      make("p", { class: "legend" },
        make("span", { class: "key unlocked" }, "unlocked"),
        make("span", { class: "key locked" }, "locked"),
        make("span", { class: "muted" }, "height: confidence; last 3 minutes")),
      this.#changes);
  }

  note({ at, state, confidence }) {
    const last = this.#past.at(-1);
    if (last && last.state === state && last.confidence === confidence) last.until = at;
    else {
      if (last) last.until = at;
      this.#past.push({ at, until: at, state, confidence });
    }
    this.#past = this.#past.filter((one) => one.until > at - SHOWN_S);
    requestAnimationFrame(() => this.#draw(at));
  }

  tell(kind, { at, sentence }) {
    if (kind === "confidence") return;
    const text = kind === "locked" || kind === "unlocked" ? `${KINDS[kind]}: ${sentence}` : (KINDS[kind] ?? kind);
    this.#changes.prepend(make("li", { class: `change ${kind}` }, make("time", {}, clock(at)), " ", text));
    while (this.#changes.children.length > MOST_CHANGES) this.#changes.lastChild.remove();
  }

  #draw(now) {
    const { pen, width, height } = penOf(this.canvas);
    const place = (at) => width * (1 - (now - at) / SHOWN_S);
    for (const one of this.#past) {
      pen.fillStyle = color(one.state);
      const tall = height * HEIGHTS[one.confidence];
      const left = Math.max(0, place(one.at));
      pen.fillRect(left, height - tall, Math.max(1, place(one.until) - left), tall);
    }
  }
}
