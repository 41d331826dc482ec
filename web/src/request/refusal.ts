// Why a submission was not taken: what to say beside the button, and whether it is sent again by itself.

import type { ApiError } from "../gateway/api_error";
import { when } from "../page/action";

const WAITS_SECONDS = [1, 2, 4];
const LONGEST_WAIT_SECONDS = 30;
// No answer, or one that says that a service is away; the same `Idempotency-Key` makes sure that it runs once.
const PASSING = [0, 502, 503, 504];

// Seconds until it is sent again after so many failures; null if it is not.
export function waitAgain({ status, retryAfterSeconds }: ApiError, failures: number): number | null {
  const wait = WAITS_SECONDS[failures - 1];
  if (!PASSING.includes(status) || wait === undefined) return null;
  const asked = Math.max(wait, retryAfterSeconds ?? 0);
  return asked <= LONGEST_WAIT_SECONDS ? asked : null;
}

export interface Refusal {
  text: string;
  fields: string[];
}

export function refusalOf(error: ApiError, nowMs: number): Refusal {
  const fields = error.fields.map(({ field, message }) => `${field}: ${message}`);
  const then = next(error, nowMs);
  // The detail of wrong fields has each of them once more.
  const text = error.status === 422 && fields.length ? "Not submitted; correct this:" : error.message;
  return { text: [text, then].filter(Boolean).join(" "), fields };
}

function next(error: ApiError, nowMs: number): string {
  const { status } = error;
  switch (status) {
    case 401:
      return "Your text stays; sign in, then run it again.";
    case 402:
      return "Whoever runs this service can give you credit: wavepool grants add.";
    case 429:
      return when(error, nowMs);
    default:
      return PASSING.includes(status) ? "It was tried several times. Run sends the same again, and it runs once." : "";
  }
}
