// Plays recordings in real time, round and round, and passes from one wearer to another without a seam.

const FADE_S = 1;
const LEVEL_S = 2;
const FRAME_S = 0.5;
const MOST_S = 0.8;

export class Player {
  #worker = new Worker("ticker.js");
  #recording;
  #give;
  #offset = [0, 0, 0];
  #at = 0;
  #sent = 0;
  #began = performance.now();
  #recent = [];

  constructor(recording, give) {
    this.#recording = recording;
    this.#give = give;
    this.#worker.addEventListener("message", () => this.#tick());
  }

  get rateHz() {
    return this.#recording.rateHz;
  }

  // Let another one wear it: gravity stays where it was, so that only the heartbeat tells.
  swap(recording) {
    const level = mean(this.#recent);
    this.#recording = resample(recording, this.rateHz);
    this.#at = 0;
    if (level === null) return;
    const first = Math.round(LEVEL_S * this.rateHz);
    const own = mean(Array.from({ length: first }, (_, place) => sampleAt(this.#recording, place)));
    this.#offset = level.map((value, axis) => value - own[axis]);
  }

  stop() {
    this.#worker.terminate();
  }

  #tick() {
    const due = Math.floor(((performance.now() - this.#began) / 1000) * this.rateHz);
    const most = Math.floor(MOST_S * this.rateHz);
    this.#sent = Math.max(this.#sent, due - most); // a machine that slept leaves a gap, not a flood
    const count = Math.round(FRAME_S * this.rateHz);
    if (due - this.#sent < count) return;
    const periodUs = Math.round(1e6 / this.rateHz);
    const timeUs = 1e6 + this.#sent * periodUs;
    this.#give(this.#take(count), { timeUs, periodUs });
    this.#sent += count;
  }

  #take(count) {
    const taken = new Float32Array(3 * count);
    for (let place = 0; place < count; place += 1) {
      const sample = this.#next().map((value, axis) => value + this.#offset[axis]);
      taken.set(sample, 3 * place);
      this.#recent.push(sample);
    }
    this.#recent = this.#recent.slice(-Math.round(LEVEL_S * this.rateHz));
    return taken;
  }

  // The end of a recording fades into its beginning.
  #next() {
    const length = this.#recording.samples.length / 3;
    const fade = Math.min(Math.round(FADE_S * this.rateHz), Math.floor(length / 2));
    const over = this.#at - (length - fade);
    const sample = sampleAt(this.#recording, this.#at);
    this.#at += 1;
    if (over < 0) return sample;
    if (this.#at >= length) this.#at = fade;
    const first = sampleAt(this.#recording, over);
    return sample.map((value, axis) => value + ((first[axis] - value) * over) / fade);
  }
}

function sampleAt({ samples }, place) {
  return [samples[3 * place], samples[3 * place + 1], samples[3 * place + 2]];
}

function mean(samples) {
  if (!samples.length) return null;
  return [0, 1, 2].map((axis) => samples.reduce((sum, one) => sum + one[axis], 0) / samples.length);
}

// Bring a recording to the rate of the stream by straight lines: good enough to be told apart.
function resample(recording, rateHz) {
  if (Math.abs(recording.rateHz / rateHz - 1) < 0.02) return recording;
  const step = recording.rateHz / rateHz;
  const count = Math.floor((recording.samples.length / 3 - 1) / step);
  const samples = new Float32Array(3 * count);
  for (let place = 0; place < count; place += 1) {
    const before = Math.floor(place * step);
    const [one, two] = [sampleAt(recording, before), sampleAt(recording, before + 1)];
    samples.set(one.map((value, axis) => value + (two[axis] - value) * (place * step - before)), 3 * place);
  }
  return { rateHz, samples };
}
