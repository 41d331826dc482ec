// How long a run waits, and for what, in words.

import type { Schemas } from "../gateway/client";
import { dollars, isNumber, seconds } from "../page/format";

export interface Estimate {
  // Half of such runs have begun by then, and nine tenths.
  p50Seconds: number | null;
  p90Seconds: number | null;
}

// After so many seconds of the estimate.
export function startsWords({ p50Seconds, p90Seconds }: Estimate, passedSeconds: number): string {
  if (!isNumber(p50Seconds)) return "Nobody knows yet when it starts: too few runs like it have been seen.";
  const [likely, most] = [p50Seconds, p90Seconds ?? p50Seconds].map((all) => all - passedSeconds) as [number, number];
  if (most <= 0) return "It waits longer than nine in ten runs like it.";
  if (likely <= 0) return `Starts any moment, at worst in ${about(most)}.`;
  const worst = isNumber(p90Seconds) ? `, at worst ${about(most)}` : "";
  return `Starts likely within ${about(likely)}${worst}.`;
}

// How far a machine's start has come; `start` is given until it is ready.
export function startingWords(
  { p50Seconds, p90Seconds }: Estimate,
  passedSeconds: number,
  start?: { limitSeconds: number | null },
): string {
  const passed = passedSeconds < 60 ? `${Math.floor(passedSeconds)} s` : seconds(passedSeconds);
  if (!isNumber(p50Seconds)) return `${passed} so far.${start ? firstStart(start.limitSeconds) : ""}`;
  const usual = `usually ${about(p50Seconds)}`;
  const worst = isNumber(p90Seconds) ? `, at worst ${about(p90Seconds)}` : "";
  const late =
    passedSeconds > (p90Seconds ?? Number.POSITIVE_INFINITY) ? " It takes longer than nine in ten starts." : "";
  return `${passed} so far; ${usual}${worst}.${late}`;
}

function firstStart(limitSeconds: number | null): string {
  const limit = isNumber(limitSeconds) ? `; given up after ${about(limitSeconds)}` : "";
  return ` No estimate yet: first start of this kind${limit}.`;
}

// What is known of a start, each behind a dot.
export function startFacts(stage: string, machine?: Parameters<typeof machineWords>[0] | null): string {
  return [stage, machine ? machineWords(machine) : ""].map((fact) => (fact ? ` · ${fact}` : "")).join("");
}

// "AMD MI300X (192 GB, $1.99/h)"
export function machineWords(
  machine: Pick<Schemas["MachineFigures"], "device_title" | "memory_mib" | "price_usd_per_hour">,
): string {
  const facts = [
    machine.memory_mib ? `${Math.round(machine.memory_mib / 1024)} GB` : "",
    machine.price_usd_per_hour ? `${dollars(machine.price_usd_per_hour, 2)}/h` : "",
  ].filter(Boolean);
  return machine.device_title + (facts.length ? ` (${facts.join(", ")})` : "");
}

// A time that nobody knows to the second.
export function about(seconds: number): string {
  if (seconds < 10) return `${Math.max(1, Math.ceil(seconds))} s`;
  if (seconds < 55) return `${Math.ceil(seconds / 5) * 5} s`;
  if (seconds < 3570) return `${Math.max(1, Math.round(seconds / 60))} min`;
  return `${Number((seconds / 3600).toFixed(1))} h`;
}
