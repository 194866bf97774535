// What somebody hears while they are being enrolled.

import { alertLine, make, tell } from "./dom.js";

export function makeCoach(person) {
  const advice = make("p", { class: "advice", role: "status" }, "Sit still and breathe. Listening begins.");
  const counted = make("p", { class: "muted" }, "The first seconds let the filters settle.");
  const bar = make("progress", { max: 80, value: 0, "aria-label": "Good windows" });
  const alert = alertLine();
  const end = make("button", { type: "button", class: "primary", disabled: true }, "Finish");
  const leave = make("button", { type: "button", class: "quiet" }, "Cancel");
  return {
    enrolled: false,
    // Give what is shown while listening.
    begin({ done, back }) {
      this.done = () => {
        end.disabled = true;
        done();
      };
      end.addEventListener("click", this.done);
      leave.addEventListener("click", back);
      const heading = make("h2", { tabindex: -1 }, `Listening to ${person}`);
      return [heading, advice, bar, counted, alert, make("div", { class: "row" }, end, leave)];
    },
    progress(message) {
      bar.max = message.needed;
      bar.value = message.good;
      tell(advice, sayAdvice(message));
      tell(counted, `${message.good} of ${message.needed} good windows; ${message.least} are enough to begin with.`);
      tell(alert, message.refusal ?? "");
      end.disabled = !message.may_end;
      if (message.complete) this.done();
    },
    fail(sentence) {
      tell(alert, sentence);
      end.disabled = true;
      tell(leave, "Back");
    },
  };
}

function sayAdvice({ advice, may_end: mayEnd }) {
  if (advice) return `${advice.charAt(0).toUpperCase()}${advice.slice(1)}.`;
  return mayEnd ? "Enough for a start. Going on makes it better." : "Good. Keep still.";
}
