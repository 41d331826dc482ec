// Where the times of a case are drawn; pure.

import { isNumber } from "../page/format";

// So many times the usual width is drawn; slower times are at the edge, as they would squeeze all others.
const MOST_WIDTHS = 2;
// The usual times end so many widths of the middle half above it, or so much of their own width after 95 % of them.
const FAR = 3;
const BEYOND = 0.25;

export interface Times {
  min_ms: number;
  // 0 if it is not told.
  p25_ms?: number;
  p75_ms?: number;
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
export function axisOf(times: Times): Axis | null {
  const { min_ms: low, max_ms: max } = times;
  if (!isNumber(low) || !isNumber(max) || !(max > low)) return null;
  const usual = endOfUsual(times);
  const isCut = usual > low && max - low > MOST_WIDTHS * (usual - low);
  const high = isCut ? usual : max;
  return { low, high, isCut, place: (ms) => Math.min(1, Math.max(0, (ms - low) / (high - low))) };
}

// Of a few times, the 95th percentile is the slowest one itself: then the middle half decides.
function endOfUsual({ min_ms: low, p25_ms: p25 = 0, p75_ms: p75 = 0, p95_ms: p95 }: Times): number {
  if (!(p25 > 0 && p75 > p25)) return p95 + BEYOND * (p95 - low);
  const far = p75 + FAR * (p75 - p25);
  return p95 - low <= MOST_WIDTHS * (far - low) ? Math.max(far, p95) : far;
}

// Dots beside each other instead of on top of each other: a height from 0 to 1, the same for the same number.
export function jitter(at: number): number {
  return (at * 0.618034) % 1;
}
