import { expect, test } from "vitest";
import { halfOf, meanHalf, withSamples } from "./case_times";
import type { Benchmark } from "./frames";

const ci = { low_ms: 0.9, high_ms: 1.1, confidence: 0.95 };

test("the mean of cases is known as well as its cases are", () => {
  expect(halfOf({ ci })).toBeCloseTo(0.1);
  expect(halfOf({})).toBe(0);
  expect(
    meanHalf(4, [
      { runtime_ms: 1, ci },
      { runtime_ms: 2, ci: { ...ci, low_ms: 2, high_ms: 2 } },
    ]),
  ).toBeCloseTo(0.2);
  expect(meanHalf(4, [])).toBe(0);
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
