// Calls to the gateway.

import { token } from "../page/session.js";

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

export async function reached(path, options) {
  try {
    return await fetch(path, options);
  } catch (cause) {
    if (cause.name === "AbortError") throw cause;
    throw new ApiError(0, "The gateway cannot be reached.");
  }
}

export async function checked(response) {
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  const answer = isJson ? await response.json() : null;
  if (!response.ok) throw new ApiError(response.status, answer?.detail ?? `HTTP ${response.status}`, answer?.errors);
  return answer;
}
