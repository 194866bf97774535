// A token lets somebody in; it stays in this tab.

import { dropToken, findRole, keepToken } from "../api.js";
import { alertLine, attempt, field, make } from "../dom.js";

export const title = "Log in";

export function show(content, { enter }) {
  const secret = make("input", { type: "password", name: "token", required: true, autocomplete: "current-password", spellcheck: "false" });
  const account = make("input", { name: "username", autocomplete: "username", value: "acclock", hidden: true });
  const alert = alertLine();
  const submit = attempt(alert, async () => {
    keepToken(secret.value.trim());
    try {
      enter(await findRole());
    } catch (error) {
      dropToken();
      throw error.code === "forbidden" ? new Error("This token is for a device; the dashboard needs an operator's or a viewer's.") : error;
    }
  });
  content.append(make("form", { class: "panel login form", onsubmit: submit },
    make("h1", { tabindex: -1 }, "Who wears it?"),
    make("p", { class: "lead" }, "AccLock knows the wearer of an earphone by the heartbeat."),
    account, field("Token", secret, "The first start of acclock serve tells an operator's token, or the file that holds it; acclock token create makes others."),
    alert, make("button", { class: "primary" }, "Log in")));
}
