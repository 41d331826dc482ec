// Which submissions are listed, and in which order, as the address says.

import type { operations } from "../gateway/types";

export type ListQuery = NonNullable<operations["list_submissions"]["parameters"]["query"]>;

// The names in the address; what is empty filters nothing.
export interface ListChoice {
  problem: string;
  status: string;
  mode: string;
  gpu: string;
  dtype: string;
  sort: string;
}

// A submission without a status is one of these.
export const UNDER_WAY = "under way";
const WAITING_OR_RUNNING = ["QUEUED", "PROVISIONING", "RUNNING", "SETTLING"] as const;
export const STATUSES = [
  ...["ACCEPTED", "CHECKED", "BENCHMARKED", "PASSED", "SANDBOX_SUCCESS", "WRONG_ANSWER", "FAILED", "COMPILE_ERROR"],
  ...[
    "RUNTIME_ERROR",
    "TIME_LIMIT_EXCEEDED",
    "MEMORY_LIMIT_EXCEEDED",
    "SAMPLE_ONLY",
    "ERROR",
    "CANCELLED",
    "SANDBOX_ERROR",
  ],
] as const;
export const FASTEST = "fastest";

export function listChoiceOf(query: URLSearchParams): ListChoice {
  const said = (name: string) => query.get(name) ?? "";
  const problem = said("problem");
  // Times of different problems cannot be put in an order.
  const sort = said("sort") === FASTEST && problem ? FASTEST : "";
  return { problem, status: said("status"), mode: said("mode"), gpu: said("gpu"), dtype: said("dtype"), sort };
}

export function addressQueryOf(choice: ListChoice): URLSearchParams {
  const { sort, ...filters } = choice;
  const said = { ...filters, sort: choice.problem ? sort : "" };
  return new URLSearchParams(Object.entries(said).filter(([, value]) => value));
}

// What the gateway is asked for. A word that it does not know it refuses, and says which it knows.
export function listQueryOf({ problem, status, mode, gpu, dtype, sort }: ListChoice): ListQuery {
  const query: Record<string, unknown> = {};
  if (problem) query.problem = problem;
  if (status === UNDER_WAY) query.state = WAITING_OR_RUNNING;
  else if (status) query.status = [status];
  if (mode) query.mode = [mode];
  if (gpu) query.gpu_type = gpu;
  if (dtype) query.dtype = dtype;
  if (sort) query.sort = sort;
  return query as ListQuery;
}
