// One stream over a WebSocket: hello, then frames one way and messages the other.

import { asSentence, Refused, token } from "./api.js";
import { encodeFrame } from "./frames.js";

const NUMBERS = 2 ** 32;

export class Stream {
  #socket;
  #sequence = 0;
  #hear;
  #last = null;

  // Open a stream; gives it once the service is ready. hello: person, purpose, device, rate_hz, ...
  static async open(hello, hear) {
    const stream = new Stream(hear);
    stream.ready = await stream.#greet(hello);
    return stream;
  }

  constructor(hear) {
    this.#hear = hear;
    const address = new URL("/v1/stream", location.href);
    address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    this.#socket = new WebSocket(address);
  }

  get open() {
    return this.#socket.readyState === WebSocket.OPEN;
  }

  send(samples, { timeUs, periodUs }) {
    if (!this.open) return;
    this.#socket.send(encodeFrame({ samples, sequence: this.#sequence, timeUs, periodUs }));
    this.#sequence = (this.#sequence + 1) % NUMBERS;
  }

  say(message) {
    if (this.open) this.#socket.send(JSON.stringify(message));
  }

  close() {
    this.#hear = () => {};
    this.say({ type: "bye" });
    this.#socket.close(1000);
  }

  #greet(hello) {
    return new Promise((resolve, reject) => {
      let ready = false;
      this.#socket.addEventListener("message", ({ data }) => {
        const message = JSON.parse(data);
        this.#last = message;
        if (message.type === "welcome") {
          this.#sequence = message.first_sequence;
          this.say({ type: "hello", token: token(), nonce: message.nonce, ...hello });
        } else if (message.type === "ready") {
          ready = true;
          resolve(message);
        } else {
          this.#hear(message);
        }
      });
      this.#socket.addEventListener("close", () => {
        const error = this.#explain();
        if (ready) this.#hear({ type: "closed", error });
        else reject(error ?? new Refused(0, "closed", "The service closed the stream."));
      });
    });
  }

  // Say why the stream ended; nothing when it ended as it should.
  #explain() {
    switch (this.#last?.type) {
      case "error": {
        const { code, sentence } = this.#last.error;
        return new Refused(0, code, asSentence(sentence));
      }
      case "ended": return null;
      case "shed": return new Refused(0, "shed", asSentence(this.#last.sentence));
      case "superseded": return new Refused(0, "superseded", asSentence(this.#last.sentence));
      case "revoked": return new Refused(0, "revoked", "The token was revoked.");
      case "forgotten": return new Refused(0, "forgotten", "The person was deleted; the session is locked.");
      default: return new Refused(0, "closed", "The connection to the service is lost; the session is locked.");
    }
  }
}
