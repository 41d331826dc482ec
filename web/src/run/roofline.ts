// A roofline: what the hardware allows at each arithmetic intensity, and where the cases of a run are; pure.

import { isNumber } from "../page/format";
import type { Benchmark } from "./frames";

type Case = Pick<Benchmark, "name" | "gflops" | "gbytes_per_second" | "percent_of_roof"> & { bound: string | null };

export interface Point {
  name: string;
  // FLOPs for each byte that is moved.
  intensity: number;
  gflops: number;
}

// Null: no case tells it.
export interface Roofs {
  gbytesPerSecond: number | null;
  gflops: number | null;
}

export interface Chart {
  // From 0 to 1, from the left and from the top.
  place: (intensity: number, gflops: number) => { x: number; y: number };
  // The corners of the roof.
  roof: { x: number; y: number }[];
  // Powers of ten.
  ticks: { x: number[]; y: number[] };
}

export function pointsOf(cases: readonly Case[]): Point[] {
  return cases
    .filter(({ gflops, gbytes_per_second: rate }) => gflops > 0 && rate > 0)
    .map(({ name, gflops, gbytes_per_second: rate }) => ({ name, intensity: gflops / rate, gflops }));
}

// The device's peaks: a case that reached some percent of its roof tells where the roof is.
export function roofsOf(cases: readonly Case[]): Roofs {
  const peak = (bound: string, rate: (one: Case) => number) => {
    const found = cases.find((one) => one.bound === bound && rate(one) > 0 && (one.percent_of_roof ?? 0) > 0);
    return found ? (100 * rate(found)) / (found.percent_of_roof ?? Number.NaN) : null;
  };
  return {
    gbytesPerSecond: peak("MEMORY", ({ gbytes_per_second: rate }) => rate),
    gflops: peak("COMPUTE", ({ gflops }) => gflops),
  };
}

// Null if there is nothing to draw: no point, or no roof.
export function chartOf(points: readonly Point[], roofs: Roofs): Chart | null {
  const { gbytesPerSecond: rate, gflops: peak } = roofs;
  if (!points.length || (rate === null && peak === null)) return null;
  const ridge = rate !== null && peak !== null ? peak / rate : null;
  const x = decades([...points.map(({ intensity }) => intensity), ridge]);
  const below = points.map(({ intensity }) =>
    rate === null ? null : Math.min(intensity * rate, peak ?? Number.POSITIVE_INFINITY),
  );
  const y = decades([...points.map(({ gflops }) => gflops), ...below, peak]);
  const place = (intensity: number, gflops: number) => ({
    x: share(intensity, x),
    y: 1 - share(gflops, y),
  });
  return {
    place,
    roof: corners(roofs, ridge, x, y).map(([at, height]) => place(at, height)),
    ticks: { x: powers(x), y: powers(y) },
  };
}

type Decades = readonly [low: number, high: number];

// The powers of ten around some numbers.
function decades(numbers: readonly (number | null)[]): Decades {
  const logarithms = numbers.filter(isNumber).map(Math.log10);
  const [low, high] = [Math.floor(Math.min(...logarithms)), Math.ceil(Math.max(...logarithms))];
  return [low, Math.max(high, low + 1)];
}

function share(value: number, [low, high]: Decades): number {
  return (Math.log10(value) - low) / (high - low);
}

function powers([low, high]: Decades): number[] {
  return Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
}

// From left to right, within the chart.
function corners(
  { gbytesPerSecond: rate, gflops: peak }: Roofs,
  ridge: number | null,
  x: Decades,
  y: Decades,
): [number, number][] {
  const [left, right] = [10 ** x[0], 10 ** x[1]];
  const [bottom, top] = [10 ** y[0], 10 ** y[1]];
  if (rate === null)
    return [
      [left, peak as number],
      [right, peak as number],
    ];
  const start = Math.max(left, bottom / rate);
  const slope: [number, number] = [start, start * rate];
  if (ridge !== null && peak !== null) return [slope, [ridge, peak], [right, peak]];
  const end = Math.min(right, top / rate);
  return [slope, [end, end * rate]];
}
