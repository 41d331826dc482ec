// What the times of a run's cases have in common: their unit, and how far they are known.

import type { Schemas } from "../gateway/client";
import { isNumber, listed, type TimeUnit, unitOf, within } from "../page/format";
import type { Benchmark } from "./frames";
import { isMeasured } from "./verdicts";

type Mean = Pick<Schemas["PublicSubmission"], "runtime_ms" | "runtime_interval" | "timing_status">;
type Times = Partial<Pick<Benchmark, "runtime_ms" | "ci" | "timing" | "unproven_because">>;

export function unitOfTimes(cases: readonly Times[]): TimeUnit {
  return unitOf(cases.map(({ runtime_ms: time }) => time ?? 0));
}

// Half the width of the interval of a case's median; 0 if there is none.
export function halfOf({ ci }: Times): number {
  return ci && isNumber(ci.low_ms) && isNumber(ci.high_ms) ? (ci.high_ms - ci.low_ms) / 2 : 0;
}

// A number that follows from a case's median, with the digits that the median leaves.
export function known(one: Times, value: number | null | undefined): string {
  return within(value, ((value ?? 0) * halfOf(one)) / (one.runtime_ms ?? Number.NaN));
}

// The mean time of a submission in a list, with the interval that its own page has. What is only claimed is none.
export function listedMean({ runtime_ms: ms, runtime_interval: interval, timing_status: timing }: Mean): string {
  return listed(isMeasured({ timing }) ? ms : null, timing === "VALID", interval);
}

// Final results have no samples; those of the events before have up to 100.
export function withSamples(final: readonly Benchmark[], before: readonly Benchmark[]): Benchmark[] {
  if (!final.length) return [...before];
  const runs = new Map(before.map((one) => [one.test_id, one.runs]));
  return final.map((one) => ({ ...one, runs: one.runs?.length ? one.runs : (runs.get(one.test_id) ?? []) }));
}
