// Calls to the gateway, with the types of its OpenAPI document.

import createClient from "openapi-fetch";
import { token } from "../page/store";
import { ApiError, checked } from "./api_error";
import type { components, paths } from "./types";

export type Schemas = components["schemas"];

const READ_AGAIN = 2;
const READ_AGAIN_MS = 300;

export const api = createClient<paths>({ fetch: reached });

api.use({
  onRequest: ({ request }) => {
    if (token() && !request.headers.has("Authorization")) request.headers.set("Authorization", `Bearer ${token()}`);
  },
  onResponse: ({ response }) => checked(response),
});

// The answer's body; every refusal was thrown before.
export async function given<Data>(answer: Promise<{ data?: Data }>): Promise<Data> {
  return (await answer).data as Data;
}

export function bearer(value: string): { headers: { Authorization: string } } {
  return { headers: { Authorization: `Bearer ${value}` } };
}

// Browsers drop requests when the network changes, as it does with a VPN. What only reads is asked for again.
async function reached(request: Request): Promise<Response> {
  for (let left = request.method === "GET" ? READ_AGAIN : 0; ; left--) {
    try {
      return await fetch(request.clone());
    } catch (cause) {
      if (request.signal.aborted) throw cause;
      if (!left) throw new ApiError(0, "The gateway cannot be reached.");
      await new Promise((resolve) => setTimeout(resolve, READ_AGAIN_MS));
    }
  }
}
