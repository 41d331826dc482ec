import { expect, test } from "vitest";
import { halfOf, listedMean, withSamples } from "./case_times";
import type { Benchmark } from "./frames";

const ci = { low_ms: 0.9, high_ms: 1.1, confidence: 0.95 };

test("half an interval is what a time is known within", () => {
  expect(halfOf({ ci })).toBeCloseTo(0.1);
  expect(halfOf({})).toBe(0);
});

test.each([
  ["VALID", 0.04, "53.4 ± 2.1 µs"],
  ["UNSTABLE", 0.79, "53 ± 42 µs"],
  ["UNPROVEN", 0.04, "–"],
  ["INVALID", 0.04, "–"],
  ["VALID", null, "53.4 µs"],
] as const)("a %s time of a list within %s is %s", (timing, interval, shown) => {
  expect(listedMean({ runtime_ms: 0.0534, runtime_interval: interval, timing_status: timing })).toBe(shown);
});

test("samples of the events stay with the final results of the same case", () => {
  const samples = [{ run_index: 0, runtime_ms: 1 }];
  const before = [{ test_id: 2, runs: samples }] as Benchmark[];
  const final = [
    { test_id: 1, runs: [] },
    { test_id: 2, runs: [] },
  ] as unknown as Benchmark[];
  expect(withSamples(final, before).map(({ runs }) => runs)).toEqual([[], samples]);
  expect(withSamples([], before)).toEqual(before);
});
