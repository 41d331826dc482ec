// Words and colours of ends and timings. Words of newer servers are no reason to believe a time.

import type { Timing } from "./frames";

export type Kind = "good" | "warn" | "bad";

const GOOD = new Set(["ACCEPTED", "CHECKED", "BENCHMARKED", "PASSED", "SANDBOX_SUCCESS"]);
// Neither proven nor refuted.
const NEITHER = new Set(["CANCELLED", "SAMPLE_ONLY"]);
const TITLES: Record<string, string> = {
  ACCEPTED: "Accepted",
  CHECKED: "All tests passed",
  BENCHMARKED: "Measured",
  PASSED: "Sample passed",
  FAILED: "Sample failed",
  SAMPLE_ONLY: "Only the sample was run",
  SANDBOX_SUCCESS: "Program ran",
  SANDBOX_ERROR: "Program failed",
  SANDBOX_TIMEOUT: "Out of time",
  SANDBOX_OUTPUT_LIMIT: "Too much output",
  COMPILE_ERROR: "Compile error",
  WRONG_ANSWER: "Wrong answer",
  RUNTIME_ERROR: "Runtime error",
  TIME_LIMIT_EXCEEDED: "Time limit exceeded",
  MEMORY_LIMIT_EXCEEDED: "Memory limit exceeded",
  CANCELLED: "Cancelled",
  ERROR: "Error",
  INFRA_ERROR: "Our fault, not charged",
  TIMING_INVALID: "Timing invalid",
  PROBLEM_ERROR: "The problem definition failed",
  UNSTABLE: "Timing unstable",
};
const MEASURED = [undefined, null, "UNSPECIFIED", "VALID", "UNSTABLE"];

const STATES: Record<string, string> = {
  QUEUED: "Queued",
  PROVISIONING: "Machine starts",
  RUNNING: "Running",
  SETTLING: "Ending",
};

// A status, or the state of what has none yet, in words.
export function statusTitle(word: string): string {
  return TITLES[word] ?? STATES[word] ?? word;
}

export function isGood(status: string): boolean {
  return GOOD.has(status);
}

// The outcome of one test; of a word of a newer server nothing is known.
export function testKind(status: string): { kind: "good" | "bad" | ""; mark: string; word: string } {
  if (status === "PASSED") return { kind: "good", mark: "✓", word: "passed" };
  if (status === "FAILED") return { kind: "bad", mark: "✗", word: "failed" };
  return { kind: "", mark: "–", word: status === "NOT_RUN" ? "not run" : status };
}

export function statusKind(status: string): Kind {
  if (isGood(status)) return "good";
  return NEITHER.has(status) ? "warn" : "bad";
}

// Of a run as a whole: green is for what is proven, so an end whose time is in doubt is never good.
export function endKind(status: string, timing: Timing): Kind {
  const kind = statusKind(status);
  if (kind !== "good") return kind;
  const isClaim = status === "BENCHMARKED" || isTimed(status, timing);
  return isClaim && timingKind(timing) !== "good" ? "warn" : "good";
}

// Some verdicts that are about the submission are ERROR for front ends; others are finer than the status.
export function verdictTitle({ status, verdict = "" }: { status: string; verdict?: string }): string {
  const title = statusTitle(status);
  if (isGood(status) || !verdict || verdict === status) return title;
  if (!TITLES[verdict]) return `${title} · ${verdict.replaceAll("_", " ").toLowerCase()}`;
  return status === "ERROR" ? TITLES[verdict] : title;
}

// A verdict is about the answers; whether the time ranks stands beside it.
export function isTimed(status: string, { timing }: Timing): boolean {
  return isGood(status) && Boolean(timing) && timing !== "UNSPECIFIED";
}

export function endTitle(status: string, timing: Timing): string {
  const title = statusTitle(status);
  return isTimed(status, timing) ? `${title} · ${timingWord(timing)}` : title;
}

// The timing of a case or of a run; an UNSTABLE time of a device that never ranks has its interval beside the word.
// Runs of older executors call it VALID.
export function timingWord({ timing, shown_interval: half }: Timing): string {
  if (half && (timing === "VALID" || timing === "UNSTABLE"))
    return `UNSTABLE ± ${Number((100 * half).toPrecision(2))} %`;
  return timing === "UNSPECIFIED" || !timing ? "–" : timing;
}

export function timingKind({ timing, shown_interval: half }: Timing): Kind {
  if (half && timing !== "INVALID") return "warn";
  if (timing === "VALID") return "good";
  return timing === "INVALID" || timing === "UNSTABLE" ? "bad" : "warn";
}

// An UNPROVEN or INVALID time is only what a program claims, and is not shown as a time.
// An UNSTABLE run may have cases that are not proven.
export function isMeasured({ timing, unproven_because: because }: Timing & { unproven_because?: string | null }) {
  return !because && MEASURED.includes(timing);
}
