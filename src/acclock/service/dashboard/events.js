// Server-sent events over fetch, because an EventSource cannot show a token.

import { call } from "./api.js";

const AGAIN_MS = 1000;
const LONGEST_MS = 15000;
const SILENT_MS = 25000; // the service says something every 10 s

// Give the events of a text stream, which may be cut anywhere.
export class EventParser {
  #rest = "";

  push(text) {
    const blocks = (this.#rest + text).split("\n\n");
    this.#rest = blocks.pop();
    return blocks.map(readBlock).filter((event) => event !== null);
  }
}

function readBlock(block) {
  const lines = block.split("\n");
  const kind = lines.find((line) => line.startsWith("event: "))?.slice(7);
  const data = lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice(6));
  return kind && data.length ? { kind, data: JSON.parse(data.join("\n")) } : null;
}

// Hear events until the signal aborts; a connection that ends is opened again.
export async function follow(path, hear, { signal, state = () => {} }) {
  let wait = AGAIN_MS;
  while (!signal.aborted) {
    try {
      const response = await call(path, { signal });
      state("open");
      wait = AGAIN_MS;
      await readAll(response.body, hear, signal);
    } catch (error) {
      if (signal.aborted || [401, 403, 404].includes(error.status)) return;
    }
    if (signal.aborted) return;
    state("lost");
    await new Promise((resolve) => setTimeout(resolve, wait));
    wait = Math.min(2 * wait, LONGEST_MS);
  }
}

async function readAll(body, hear, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new EventParser();
  for (;;) {
    const timer = setTimeout(() => reader.cancel(), SILENT_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done || signal.aborted) return;
    parser.push(value).forEach(hear);
  }
}
