import { expect, test } from "vitest";
import { chartOf, pointsOf, roofsOf } from "./roofline";

const memory = { name: "a", gflops: 100, gbytes_per_second: 1000, bound: "MEMORY", percent_of_roof: 20 };
const compute = { name: "b", gflops: 40_000, gbytes_per_second: 100, bound: "COMPUTE", percent_of_roof: 25 };
const launch = { name: "c", gflops: 1, gbytes_per_second: 10, bound: "LAUNCH", percent_of_roof: 50 };

function near(value: number | undefined): unknown {
  return expect.closeTo(value ?? Number.NaN, 6);
}

test("the device's peaks follow from how much of them was reached", () => {
  expect(roofsOf([launch, memory, compute])).toEqual({ gbytesPerSecond: 5000, gflops: 160_000 });
  expect(roofsOf([launch])).toEqual({ gbytesPerSecond: null, gflops: null });
  expect(roofsOf([{ ...memory, percent_of_roof: null }])).toEqual({ gbytesPerSecond: null, gflops: null });
});

test("a case without FLOPs or bytes has no place", () => {
  expect(pointsOf([memory, { ...memory, gflops: 0 }, { ...memory, gbytes_per_second: 0 }])).toEqual([
    { name: "a", intensity: 0.1, gflops: 100 },
  ]);
});

test("a point lies below the roof by the share that it reached", () => {
  const chart = chartOf(pointsOf([memory, compute]), roofsOf([memory, compute]));
  // y: 10^2 to 10^6; the memory's roof at 0.1 is 500.
  expect(chart?.place(0.1, 500).y).toBeCloseTo(1 - (Math.log10(500) - 2) / 4);
  const [start, ridge, end] = chart?.roof ?? [];
  expect(ridge).toEqual({ x: near(chart?.place(32, 1).x), y: near(chart?.place(1, 160_000).y) });
  expect(end).toEqual({ x: 1, y: ridge?.y });
  expect(start?.x).toBeCloseTo(0);
  expect(chart?.ticks.x).toEqual([0.1, 1, 10, 100, 1000]);
});

test("a roof that no case tells is not drawn", () => {
  const points = pointsOf([memory, compute]);
  const slope = chartOf(points, { gbytesPerSecond: 5000, gflops: null })?.roof ?? [];
  expect(slope).toHaveLength(2);
  expect(slope[1]?.y).toBeLessThan(slope[0]?.y ?? 0);
  const flat = chartOf(points, { gbytesPerSecond: null, gflops: 160_000 })?.roof ?? [];
  expect(flat[0]?.y).toBe(flat[1]?.y);
  expect(chartOf(points, { gbytesPerSecond: null, gflops: null })).toBeNull();
  expect(chartOf([], { gbytesPerSecond: 1, gflops: 1 })).toBeNull();
});

test("all of a chart is within it", () => {
  const chart = chartOf(pointsOf([launch]), { gbytesPerSecond: 5000, gflops: 160_000 });
  for (const { x, y } of chart?.roof ?? []) {
    expect(Math.min(x, y)).toBeGreaterThanOrEqual(-1e-9);
    expect(Math.max(x, y)).toBeLessThanOrEqual(1 + 1e-9);
  }
});
