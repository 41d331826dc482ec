// What went wrong last, and whether the page has a token or asks for one.

import { signal } from "@preact/signals";
import { ApiError } from "../gateway/api_error";
import { signedIn, token } from "./store";

export const alert = signal<ApiError | null>(null);
// Why a token is asked for; null if it is not.
export const asksForToken = signal<string | null>(null);
export const hasToken = signal(token() !== "");

// An action whose failure people see.
export function guarded<Values extends unknown[]>(action: (...values: Values) => unknown) {
  return async (...values: Values): Promise<void> => {
    alert.value = null;
    try {
      await action(...values);
    } catch (error) {
      showFailure(error);
    }
  };
}

export function showFailure(error: unknown): void {
  if (!(error instanceof ApiError)) throw error;
  askAgain(error);
  alert.value = error;
}

// A token that has ended is asked for, whoever was refused.
export function askAgain(error: ApiError): void {
  if (error.status === 401) {
    asksForToken.value = signedIn()
      ? "Your sign-in has ended; sign in again."
      : "This token is unknown, revoked or expired, or its user is disabled; enter another.";
  }
}
