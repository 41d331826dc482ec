import { expect, test } from "vitest";
import { axisOf, jitter } from "./distribution";

test("times are placed between the shortest and the longest", () => {
  const axis = axisOf({ min_ms: 1, p95_ms: 1.8, max_ms: 2 });
  expect(axis).toMatchObject({ low: 1, high: 2, isCut: false });
  expect([1, 1.5, 2].map((ms) => axis?.place(ms))).toEqual([0, 0.5, 1]);
});

test("one very slow call does not squeeze all others, and stays at the edge", () => {
  const axis = axisOf({ min_ms: 1, p95_ms: 2, max_ms: 100 });
  expect(axis?.isCut).toBe(true);
  expect(axis?.place(2)).toBeCloseTo(0.8);
  expect(axis?.place(100)).toBe(1);
});

test("one slow call of a few is cut, too: it is the 95th percentile itself", () => {
  const axis = axisOf({ min_ms: 1, p25_ms: 1.1, p75_ms: 1.5, p95_ms: 9, max_ms: 9 });
  expect(axis?.isCut).toBe(true);
  expect(axis?.high).toBeCloseTo(2.7);
  expect(axisOf({ min_ms: 1, p25_ms: 1.1, p75_ms: 1.5, p95_ms: 2, max_ms: 2.2 })).toMatchObject({
    high: 2.2,
    isCut: false,
  });
});

test("times that do not differ, or are none, have no axis", () => {
  expect(axisOf({ min_ms: 1, p95_ms: 1, max_ms: 1 })).toBeNull();
  expect(axisOf({ min_ms: Number.NaN, p95_ms: 1, max_ms: 1 })).toBeNull();
});

test("a dot has the same height each time it is drawn", () => {
  expect(jitter(7)).toBe(jitter(7));
  expect(jitter(1)).not.toBe(jitter(2));
});
