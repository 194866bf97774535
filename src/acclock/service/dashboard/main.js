// Which page is shown, and to whom.

import { dropToken, findRole, token } from "./api.js";
import { make } from "./dom.js";
import * as audit from "./pages/audit.js";
import * as devices from "./pages/devices.js";
import * as enroll from "./pages/enroll.js";
import * as login from "./pages/login.js";
import * as now from "./pages/now.js";
import * as people from "./pages/people.js";
import * as policies from "./pages/policies.js";
import * as trial from "./pages/try.js";

const PAGES = { now, enroll, try: trial, people, devices, policies, audit };
const content = document.getElementById("content");
const menu = document.getElementById("menu");
const leave = document.getElementById("leave");

let role = null;
let shown = new AbortController();

function place() {
  const [, name] = location.hash.split("/");
  return name in PAGES ? name : "now";
}

async function render() {
  shown.abort();
  shown = new AbortController();
  const { signal } = shown;
  const page = role === null ? login : PAGES[place()];
  document.title = `${page.title} · AccLock`;
  menu.hidden = leave.hidden = role === null;
  for (const link of menu.children) {
    if (link.getAttribute("href") === `#/${place()}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const fresh = make("div", { class: "page", "aria-busy": "true" });
  content.replaceChildren(fresh);
  try {
    await page.show(fresh, { role, signal, enter });
  } catch (error) {
    if (!signal.aborted) fresh.append(make("p", { class: "alert", role: "alert" }, error.message));
  } finally {
    fresh.removeAttribute("aria-busy");
  }
}

async function turn() {
  if (location.hash === "#content") return;
  await render();
  content.querySelector("h1")?.focus();
}

function enter(found) {
  role = found;
  turn();
}

function exit() {
  trial.stopTrying();
  dropToken();
  role = null;
  turn();
}

async function begin() {
  menu.append(...Object.entries(PAGES).map(([name, page]) => make("a", { href: `#/${name}` }, page.title)));
  leave.addEventListener("click", exit);
  addEventListener("hashchange", turn);
  addEventListener("acclock-refused", () => role !== null && exit());
  if (token() !== null) role = await findRole().catch(() => null);
  await render();
}

begin();
