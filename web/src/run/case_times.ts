// What the times of a run's cases have in common: their unit, and how far they are known.

import { isNumber, type TimeUnit, unitOf, within } from "../page/format";
import type { Benchmark } from "./frames";

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

// Of the geometric mean: it is within this if each case is within its own.
export function meanHalf(meanMs: number, cases: readonly Times[]): number {
  const shares = cases.map((one) => halfOf(one) / (one.runtime_ms || Number.NaN)).filter(isNumber);
  return shares.length ? (meanMs * shares.reduce((sum, share) => sum + share, 0)) / shares.length : 0;
}

// Final results have no samples; those of the events before have up to 100.
export function withSamples(final: readonly Benchmark[], before: readonly Benchmark[]): Benchmark[] {
  if (!final.length) return [...before];
  const runs = new Map(before.map((one) => [one.test_id, one.runs]));
  return final.map((one) => ({ ...one, runs: one.runs?.length ? one.runs : (runs.get(one.test_id) ?? []) }));
}
