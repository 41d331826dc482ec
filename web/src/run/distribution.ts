// Where the times of a case are drawn; pure.

import { isNumber } from "../page/format";

// Above this much of the usual width, the slowest times are drawn at the edge: they would squeeze all others.
const MOST_WIDTHS = 4;
const BEYOND = 0.25;

export interface Times {
  min_ms: number;
  p95_ms: number;
  max_ms: number;
}

export interface Axis {
  low: number;
  high: number;
  // Some times are beyond the end.
  isCut: boolean;
  // From 0 to 1.
  place: (ms: number) => number;
}

// The axis of a case's times; null if they do not differ.
export function axisOf({ min_ms: low, p95_ms: usual, max_ms: max }: Times): Axis | null {
  if (!isNumber(low) || !isNumber(max) || !(max > low)) return null;
  const width = usual - low;
  const isCut = width > 0 && max - low > MOST_WIDTHS * width;
  const high = isCut ? usual + BEYOND * width : max;
  return { low, high, isCut, place: (ms) => Math.min(1, Math.max(0, (ms - low) / (high - low))) };
}

// Dots beside each other instead of on top of each other: a height from 0 to 1, the same for the same number.
export function jitter(at: number): number {
  return (at * 0.618034) % 1;
}
