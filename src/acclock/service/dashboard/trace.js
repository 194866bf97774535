// The heartbeat as it comes: raw above, denoised below.

import { make } from "./dom.js";

const SHOWN_S = 8;
const LEAST_RANGE = 1e-6;

export function color(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// Give a canvas's pen, with as many points as the screen has.
export function penOf(canvas) {
  const { clientWidth: width, clientHeight: height } = canvas;
  const density = devicePixelRatio || 1;
  canvas.width = Math.round(width * density);
  canvas.height = Math.round(height * density);
  const pen = canvas.getContext("2d");
  pen.scale(density, density);
  return { pen, width, height };
}

export class Trace {
  #raw = [];
  #clean = [];
  #rateHz = 50;
  #waiting = false;

  constructor() {
    this.canvas = make("canvas", { class: "trace", role: "img", "aria-label": "Heartbeat, raw and denoised, of the last seconds" });
    this.element = make("figure", { class: "traced" }, this.canvas,
      make("figcaption", { class: "legend" },
        make("span", { class: "key raw" }, "raw acceleration"),
        make("span", { class: "key clean" }, "denoised heartbeat"),
        make("span", { class: "muted" }, `last ${SHOWN_S} s, each to its own scale`)));
  }

  push({ rate_hz: rateHz, raw, clean }) {
    const most = SHOWN_S * rateHz;
    this.#rateHz = rateHz;
    this.#raw = [...this.#raw, ...raw].slice(-most);
    this.#clean = [...this.#clean, ...(clean ?? raw.map(() => NaN))].slice(-most);
    if (this.#waiting) return;
    this.#waiting = true;
    requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#waiting = false;
    const { pen, width, height } = penOf(this.canvas);
    const lanes = [[this.#raw, "raw", 0, 0.42], [this.#clean, "clean", 0.42, 0.58]];
    pen.strokeStyle = color("line");
    for (let second = 1; second < SHOWN_S; second += 1) {
      line(pen, [[(second * width) / SHOWN_S, 0], [(second * width) / SHOWN_S, height]]);
    }
    for (const [values, name, top, share] of lanes) {
      pen.strokeStyle = color(name);
      pen.lineWidth = name === "clean" ? 2 : 1.2;
      pen.lineJoin = "round";
      this.#drawLane(pen, values, { width, top: top * height, height: share * height });
    }
  }

  #drawLane(pen, values, { width, top, height }) {
    const known = values.filter(Number.isFinite);
    if (!known.length) return;
    const range = Math.max(LEAST_RANGE, ...known.map(Math.abs));
    const step = width / (SHOWN_S * this.#rateHz - 1);
    const start = width - (values.length - 1) * step;
    let part = [];
    values.forEach((value, place) => {
      if (Number.isFinite(value)) {
        part.push([start + place * step, top + height * (0.5 - (0.44 * value) / range)]);
      } else {
        line(pen, part);
        part = [];
      }
    });
    line(pen, part);
  }
}

function line(pen, points) {
  if (points.length < 2) return;
  pen.beginPath();
  points.forEach(([x, y]) => pen.lineTo(x, y));
  pen.stroke();
}
