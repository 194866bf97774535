// Questions to the service. The token lives as long as the tab and is never part of an address.

const KEPT = "acclock-token";

export class Refused extends Error {
  constructor(status, code, sentence) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

export const token = () => sessionStorage.getItem(KEPT);
export const keepToken = (secret) => sessionStorage.setItem(KEPT, secret);
export const dropToken = () => sessionStorage.removeItem(KEPT);

export async function ask(path, { method = "GET", json, body, headers = {}, signal } = {}) {
  const response = await call(path, { method, json, body, headers, signal });
  return response.status === 204 ? null : response.json();
}

// Give the response itself, once the service has agreed to answer.
export async function call(path, { method = "GET", json, body, headers = {}, signal } = {}) {
  const told = { Authorization: `Bearer ${token()}`, ...headers };
  if (json !== undefined) told["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, {
      method, signal, headers: told, body: json === undefined ? body : JSON.stringify(json),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused(0, "unreachable", "The service does not answer.");
  }
  if (!response.ok) throw await readRefusal(response);
  return response;
}

async function readRefusal(response) {
  let fault = { code: "failed", sentence: `the service answered ${response.status}` };
  try {
    fault = (await response.json()).error ?? fault;
  } catch {
    // A proxy's answer is no JSON; the status says enough.
  }
  if (response.status === 401) dispatchEvent(new Event("acclock-refused"));
  return new Refused(response.status, fault.code, asSentence(fault.sentence));
}

export function asSentence(clause) {
  const text = clause.charAt(0).toUpperCase() + clause.slice(1);
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

export const personPath = (name) => `/v1/people/${encodeURIComponent(name)}`;

// Say what a token may do here: "operator", "viewer", or nothing for those who have no business here.
export async function findRole() {
  try {
    await ask("/v1/tokens");
    return "operator";
  } catch (error) {
    if (error.code !== "forbidden") throw error;
  }
  await ask("/v1/people");
  return "viewer";
}
