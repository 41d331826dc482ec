// An action that the gateway may refuse, and what is then said beside the button that was pressed.

import { useState } from "preact/hooks";
import { ApiError } from "../gateway/api_error";
import { askAgain } from "./alert";

export interface Action<Values extends unknown[]> {
  // Empty if it was not refused.
  refusal: string;
  act: (...values: Values) => Promise<void>;
  // For whoever asks for something else.
  forget: () => void;
}

export function useAction<Values extends unknown[]>(action: (...values: Values) => Promise<void>): Action<Values> {
  const [refusal, setRefusal] = useState("");
  async function act(...values: Values): Promise<void> {
    setRefusal("");
    try {
      await action(...values);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      askAgain(error);
      setRefusal(said(error, Date.now()));
    }
  }
  return { refusal, act, forget: () => setRefusal("") };
}

// The gateway's words, with each field that is wrong and when it may be tried again.
export function said(error: ApiError, nowMs: number): string {
  const fields = error.fields.map(({ field, message }) => `${field}: ${message}`);
  return [fields.length ? fields.join("; ") : error.message, when(error, nowMs)].filter(Boolean).join(" ");
}

export function when({ status, retryAfterSeconds }: ApiError, nowMs: number): string {
  if (status !== 429 || retryAfterSeconds === null) return "";
  return `Possible again at ${new Date(nowMs + retryAfterSeconds * 1000).toLocaleTimeString("en-GB")}.`;
}
