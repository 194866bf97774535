// A wearer that this page streams for: simulated, uploaded, or a real earphone. It lives on while pages change.

import { connect } from "./open_earable.js";
import { Player } from "./player.js";
import { fetchWearer, readRecording, WEARERS } from "./recordings.js";
import { Stream } from "./stream.js";

export const BLUETOOTH = "bluetooth";
export const UPLOADED = "uploaded";

export function sayWearer(wearer) {
  if (wearer === BLUETOOTH) return "An OpenEarable streams";
  if (wearer === UPLOADED) return "Your recording plays";
  return `${WEARERS.find(([name]) => name === wearer)[1]} wears it`;
}

// Load what a wearer's sensor felt; session 2 is a later wearing than the one they enroll with.
export async function load(wearer, file, session = 2) {
  return readRecording(wearer === UPLOADED ? await file.arrayBuffer() : await fetchWearer(wearer, session));
}

// Open a stream and let a source feed it. Gives the stream and a way to change or end it.
export async function wear(wearer, { file, session = 2, hello, hear }) {
  if (wearer === BLUETOOTH) return wearEarphone(hello, hear);
  const recording = await load(wearer, file, session);
  const stream = await Stream.open({ device: "this page", ...hello, rate_hz: recording.rateHz }, hear);
  const player = new Player(recording, (samples, times) => stream.send(samples, times));
  return {
    stream,
    swap: async (other, otherFile) => player.swap(await load(other, otherFile)),
    stop() {
      player.stop();
      stream.close();
    },
  };
}

async function wearEarphone(hello, hear) {
  let stream = null;
  const earphone = await connect({
    give: (samples, times) => stream?.send(samples, times),
    lost: () => stream?.say({ type: "removed" }),
  });
  try {
    stream = await Stream.open({ ...hello, device: earphone.name, rate_hz: 100 }, hear);
  } catch (error) {
    earphone.stop();
    throw error;
  }
  return {
    stream,
    swap: null,
    stop() {
      earphone.stop();
      stream.close();
    },
  };
}
