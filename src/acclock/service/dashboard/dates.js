// Dates as the reader's own language writes them, the same on every page.

export function sayDay(date) {
  return new Date(date).toLocaleDateString([], { dateStyle: "medium" });
}

export function sayMoment(date, { seconds = false } = {}) {
  return new Date(date).toLocaleString([], { dateStyle: "medium", timeStyle: seconds ? "medium" : "short" });
}
