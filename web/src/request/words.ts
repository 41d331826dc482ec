// What is asked for, and what it costs, in words.

import type { Schemas } from "../gateway/client";
import { CPU } from "../gateway/queries";
import { dollars } from "../page/format";
import { type Form, isProfiled, isProgram, isTimed, type Mode, type Timing } from "./form";

export const MODES: Record<Mode, { name: string; title: string; run: string }> = {
  full: { name: "Full", title: "Check every test, then measure", run: "Run full check" },
  check: { name: "Check", title: "Compile and check every test", run: "Run check" },
  benchmark: { name: "Benchmark", title: "Check, then measure", run: "Run benchmark" },
  sample: { name: "Sample", title: "Show one small case", run: "Run sample" },
  sandbox: { name: "Sandbox", title: "Run a whole program with its own main", run: "Run program" },
};
// It has no price and cannot be reserved, so it is not among the GPU types.
export const CPU_NAMES: Record<string, string> = { [CPU]: "CPU, without ranks" };

// A word of a newer server is shown as it is.
export function modeName(mode: string): string {
  return (MODES as Record<string, { name: string }>)[mode]?.name ?? mode;
}

export const TIMINGS: Record<Timing | "", string> = {
  "": "The device's own way",
  cold: "Cold caches",
  hot: "Hot caches",
  "first-call": "First call of a process",
};
export const SIZES: [number, string][] = [
  [1, "1/8 of a GPU"],
  [2, "1/4 of a GPU"],
  [4, "1/2 of a GPU"],
  [8, "1 GPU"],
  [16, "2 GPUs"],
  [32, "4 GPUs"],
  [64, "8 GPUs"],
];
const WHOLE = 8;

// All that is chosen, in one line.
export function chosen(form: Form): string {
  const { mode, gpuType, eighths, fallbacks } = form;
  const isKernel = !isProgram(form);
  const parts = [
    MODES[mode].name,
    gpuType ? amount(gpuType, eighths) : "",
    fallbacks.length ? `or ${fallbacks.join(", ")}` : "",
    isTimed(form) && form.timing ? TIMINGS[form.timing].toLowerCase() : "",
    isProfiled(form) && form.profile ? "profile" : "",
    isKernel && form.launchPlan.trim() ? "launch plan" : "",
    isKernel && form.definition.trim() ? "your own problem" : "",
  ];
  return parts.filter(Boolean).join(" · ");
}

// The most that a submission costs. It is never said to be less than it is.
export function mostWords({ hold_usd: most, lines }: Schemas["Quote"], { eighths, fallbacks }: Form): string {
  const words = `at most ${neverLess(most)}`;
  const [line] = lines;
  if (!line) return words;
  const others = fallbacks.length ? ", or on another that will do" : "";
  const { gpu_type: type, hour_usd: hour } = line;
  return `${words} on ${amount(type, eighths, true)} at ${dollars(hour, 2)}/h${others}`;
}

// Why the credit is not enough, in a sentence; empty if it is enough for one of the types that will do.
export function missingCredit({ hold_usd: most, lines }: Schemas["Quote"], availableUsd: number): string {
  const prices = lines.map(({ hour_usd: hour }) => hour).filter((hour) => hour > 0);
  const least = prices.length ? (most * Math.min(...prices)) / Math.max(...prices) : most;
  if (availableUsd >= least) return "";
  return (
    `Your credit of ${dollars(availableUsd, 2)} does not cover the ${neverLess(least)} that it puts on hold, so it ` +
    "would be refused. Whoever runs this service can give you credit."
  );
}

// Up to the next cent, if it is one at all.
function neverLess(usd: number): string {
  return dollars(usd < 0.01 ? usd : Math.ceil(usd * 100 - 1e-6) / 100, 2);
}

// "4 MI300X", "1/2 MI300X"; with `isSpoken`, "an MI300X".
function amount(gpuType: string, eighths: number, isSpoken = false): string {
  const part = eighths < WHOLE ? `1/${WHOLE / eighths}` : String(eighths / WHOLE);
  if (!isSpoken) return eighths === WHOLE ? gpuType : `${part} ${gpuType}`;
  // Names of GPUs are spelled: "an em eye".
  const one = `${/^[AEFHILMNORSX]/.test(gpuType) ? "an" : "a"} ${gpuType}`;
  if (eighths === WHOLE) return one;
  return eighths < WHOLE ? `${part} of ${one}` : `${part} ${gpuType}`;
}

// A type that the pool neither has nor can start. What is not known yet is not said.
export function isMissing(gpuType: string, pool: readonly Schemas["GpuAvailability"][] | undefined): boolean {
  return Boolean(pool && !pool.some(({ gpu_type: type }) => type === gpuType));
}
