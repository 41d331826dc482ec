// A refusal of the gateway, or status 0 if it did not answer.

import type { components } from "./types";

export interface FieldProblem {
  field: string;
  message: string;
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly fields: FieldProblem[] = [],
    // When it may be tried again, if the gateway said so.
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }

  // In one line: the first field's problem if it has one.
  get line(): string {
    const [first] = this.fields;
    return first ? `${first.field}: ${first.message}` : this.message;
  }
}

// The answer; raises ApiError if it is a refusal.
export async function checked(response: Response): Promise<Response> {
  if (response.ok) return response;
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  const problem: Partial<components["schemas"]["ProblemDocument"]> = isJson ? await response.json() : {};
  const wait = Number.parseFloat(response.headers.get("retry-after") ?? "");
  const detail = problem.detail ?? `HTTP ${response.status}`;
  throw new ApiError(response.status, detail, problem.errors ?? [], Number.isFinite(wait) ? wait : null);
}
