// Recordings that the browser itself can play: files of OpenEarable 2, and tables with x, y, z.

import { Refused } from "./api.js";
import { readFile } from "./open_earable.js";

const GRAVITY = 9.80665;
const UNITS = [["g", 1, GRAVITY], ["m/s²", GRAVITY, 1], ["mg", 1000, GRAVITY / 1000]];
const TIME = /^(t|time|timestamp|seconds_elapsed|elapsed)\b/i;
const AXES = ["x", "y", "z"].map((axis) => new RegExp(`^(a|acc|acc_|accel_|acceleration ?)?${axis}\\b`, "i"));

export const WEARERS = [["ada", "Ada"], ["ben", "Ben"], ["cleo", "Cleo"]];

// Give the bytes of a simulated wearer: session 1 is the first, 2 a later one.
export async function fetchWearer(name, session) {
  const response = await fetch(`wearers/${name}-${session}.oe`);
  if (!response.ok) throw new Refused(response.status, "missing", `There is no wearer ${name}.`);
  return response.arrayBuffer();
}

// Give { rateHz, samples }: x y z one after another, in m/s².
export function readRecording(buffer) {
  return readFile(buffer) ?? readTable(new TextDecoder().decode(buffer));
}

export function readTable(text) {
  const [head, ...lines] = text.trim().split(/\r?\n/).map((line) => line.split(/[,;\t]/));
  const places = [TIME, ...AXES].map((name) => head.findIndex((title) => name.test(title.trim())));
  if (places.includes(-1) || lines.length < 200) {
    throw new Refused(0, "unreadable",
      "The browser can play .oe files and tables with columns time, x, y, z; enrolling and checking take more formats.");
  }
  const rows = lines.map((cells) => places.map((place) => Number(cells[place])));
  const samples = Float32Array.from(rows.flatMap((row) => row.slice(1)));
  const rateHz = findRate(rows.map((row) => row[0]));
  const perUnit = findUnit(samples);
  return { rateHz, samples: samples.map((value) => value * perUnit) };
}

function findRate(times) {
  const span = times.at(-1) - times[0];
  const rates = [1, 1e-3, 1e-6, 1e-9].map((tick) => (times.length - 1) / (span * tick));
  const rate = rates.find((one) => one >= 20 && one <= 1000);
  if (rate === undefined) throw new Refused(0, "unreadable", "The times of the table are not 20 to 1000 a second.");
  return rate;
}

function findUnit(samples) {
  const sums = [0, 0, 0];
  samples.forEach((value, place) => (sums[place % 3] += value));
  const length = Math.hypot(...sums) / (samples.length / 3);
  const found = UNITS.find(([, gravity]) => Math.abs(length / gravity - 1) < 0.2);
  if (found === undefined) throw new Refused(0, "unreadable", "The unit of the table cannot be told: gravity is not in it.");
  return found[2];
}
