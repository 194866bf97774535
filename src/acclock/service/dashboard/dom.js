// Elements without markup in strings: text is always text.

const SVG = "http://www.w3.org/2000/svg";

// Make an element; attributes that begin with "on" are listeners, true is an empty attribute.
export function make(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function draw(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

// Set text only where it differs, so that screen readers are not told the same twice.
export function tell(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function field(label, input, hint = null) {
  input.id ||= `field-${label.toLowerCase().replace(/\W+/g, "-")}`;
  const parts = [make("label", { for: input.id }, label), input];
  if (hint !== null) {
    input.setAttribute("aria-describedby", `${input.id}-hint`);
    parts.push(make("p", { class: "hint", id: `${input.id}-hint` }, hint));
  }
  return make("div", { class: "field" }, parts);
}

export function choice(options, attributes = {}) {
  return make("select", attributes, options.map(([value, text]) => make("option", { value }, text)));
}

// On a phone each row becomes a card, whose cells bear the names of their columns.
export function table(caption, heads, rows) {
  for (const line of rows) {
    [...line.children].forEach((cell, place) => (cell.dataset.head = heads[place].textContent ?? heads[place]));
  }
  return make("div", { class: "wide", tabindex: 0, role: "region", "aria-label": caption },
    make("table", {},
      make("caption", {}, caption),
      make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
      make("tbody", {}, rows)));
}

export function row(name, ...cells) {
  return make("tr", {}, make("th", { scope: "row" }, name), cells.map((cell) => make("td", {}, cell)));
}

// Show other parts in a place; whoever was in it with the keyboard stays in it.
export function change(place, ...parts) {
  const inside = place.contains(document.activeElement);
  place.replaceChildren(...parts);
  if (inside) place.querySelector("button, select, input, a")?.focus();
}

// Run what a button asks for; say in words what went wrong, where it went wrong.
export function attempt(alert, work) {
  return async (event) => {
    event?.preventDefault();
    tell(alert, "");
    try {
      await work(event);
    } catch (error) {
      tell(alert, error.message);
    }
  };
}

export function alertLine() {
  return make("p", { class: "alert", role: "alert" });
}

export function announce(text) {
  tell(document.getElementById("spoken"), text);
}

// Ask before something that cannot be undone.
export function confirm(title, text, yes) {
  const dialog = document.getElementById("question");
  tell(document.getElementById("question-title"), title);
  tell(document.getElementById("question-text"), text);
  tell(document.getElementById("question-yes"), yes);
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}
