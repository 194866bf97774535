// Every live session, kept up to date by events.

import { follow } from "./events.js";

export class Board {
  sessions = new Map();
  #hear;

  constructor(hear) {
    this.#hear = hear;
  }

  // Follow all sessions until the signal aborts. A lost connection vouches for nobody.
  follow({ signal, state }) {
    const told = (word) => {
      if (word === "open") this.sessions.clear();
      state(word);
    };
    return follow("/v1/events", (event) => this.take(event), { signal, state: told });
  }

  take({ kind, data }) {
    if (kind === "trace") return;
    if (data.kind === "stopped") this.sessions.delete(data.session);
    else this.sessions.set(data.session, data);
    this.#hear(kind === "change" ? data.kind : "session", data);
  }

  get sorted() {
    return [...this.sessions.values()].sort((one, two) => one.person.localeCompare(two.person));
  }
}
