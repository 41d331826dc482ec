// What the author of a kernel does next, in a sentence; nothing about ends that the page does not know.

import { isNumber } from "../page/format";
import { known } from "./case_times";
import type { Benchmark, Ended } from "./frames";
import { isTimed } from "./verdicts";

const AFTER_TIMING: Record<string, string> = {
  UNPROVEN: "Remove the reason why the time is not proven, then run it again: until then the time has no rank.",
  UNSTABLE: "Run it again: separate processes were too far apart for a time that has a rank.",
  INVALID: "Find out where the work went: nothing can do it in this time.",
};
const ON_GPU = "Run it on a GPU for a time that has a rank.";
const AFTER_END: Record<string, string> = {
  CHECKED: "Run it in the mode Full to have it timed.",
  PASSED: "Run it in the mode Full to check every test and to have it timed.",
  SAMPLE_ONLY: "Add a test case that is small enough to the problem's definition: the sample alone proves nothing.",
  FAILED: "Compare your output with the expected one below.",
  COMPILE_ERROR: "Go to the first line that the compiler names, and run it again.",
  WRONG_ANSWER: "Look at the first elements that differ; the mode Sample shows a small case whole.",
  RUNTIME_ERROR: "Read the details below; most often an index leaves its buffer.",
  TIME_LIMIT_EXCEEDED: "Make the case that it ended in faster, or look for a loop that never ends.",
  MEMORY_LIMIT_EXCEEDED: "Allocate less: the details below say how much there was.",
  SANDBOX_ERROR: "Read the program's output below.",
  SANDBOX_TIMEOUT: "Look for a loop that never ends.",
  SANDBOX_OUTPUT_LIMIT: "Print less.",
  CANCELLED: "Run it again when you need its result.",
  TIMING_INVALID: "Find out where the work went: nothing can do it in this time.",
  INFRA_ERROR: "Run it again; this was no fault of your kernel.",
  PROBLEM_ERROR: "Correct the problem's definition; the details below say what failed.",
};
// Below this share of the roof there is time to win.
const NEAR_ROOF_PERCENT = 70;

export function nextStep(final: Ended): string {
  const { status, verdict, timing } = final;
  // None of a processor's times ranks, however often it is run.
  if (isTimed(status, final) && final.device === "cpu" && timing !== "VALID") return ON_GPU;
  if (isTimed(status, final)) return timing === "VALID" ? afterProven(final) : (AFTER_TIMING[timing ?? ""] ?? "");
  return AFTER_END[status] ?? AFTER_END[verdict] ?? "";
}

function afterProven({ status, shown_interval: half, benchmark_results: full, test_results: times }: Ended): string {
  if (half) return ON_GPU;
  const cases = (full ?? (status === "BENCHMARKED" ? times : undefined) ?? []) as Benchmark[];
  const [worst] = cases
    .filter(({ percent_of_roof: share }) => isNumber(share))
    .sort((one, other) => of(one) - of(other));
  if (!worst) return "Compare it with another run of yours.";
  return of(worst) < NEAR_ROOF_PERCENT
    ? `Look at the roofline and at the instructions: a case reaches ${known(worst, of(worst))} % of what the hardware allows.`
    : "It is near to what the hardware allows; compare it with another run of yours.";
}

function of({ percent_of_roof: share }: Benchmark): number {
  return share ?? 0;
}
