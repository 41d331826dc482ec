// Calls to the gateway.

import { token } from "../page/session.js";

const READ_AGAIN = 2;
const READ_AGAIN_MS = 300;

export class ApiError extends Error {
  constructor(status, detail, errors = []) {
    super(detail);
    this.status = status;
    this.errors = errors;
  }
}

export function authorized(headers = {}, bearer = token()) {
  return { Authorization: `Bearer ${bearer}`, ...headers };
}

export async function call(method, path, body, bearer = token()) {
  const options = { method, headers: authorized(body ? { "Content-Type": "application/json" } : {}, bearer) };
  if (body) options.body = JSON.stringify(body);
  return checked(await reached(path, options));
}

// Browsers drop requests when the network changes, as it does with a VPN. What only reads is asked for again.
export async function reached(path, options) {
  const reads = (options.method ?? "GET") === "GET";
  for (let left = reads ? READ_AGAIN : 0; ; left--) {
    try {
      return await fetch(path, options);
    } catch (cause) {
      if (cause.name === "AbortError") throw cause;
      if (!left) throw new ApiError(0, "The gateway cannot be reached.");
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
    }
  }
}

export async function checked(response) {
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  const answer = isJson ? await response.json() : null;
  if (!response.ok) throw new ApiError(response.status, answer?.detail ?? `HTTP ${response.status}`, answer?.errors);
  return answer;
}
