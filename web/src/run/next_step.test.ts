import { expect, test } from "vitest";
import type { Ended } from "./frames";
import { nextStep } from "./next_step";

function next(fields: Partial<Record<keyof Ended, unknown>>): string {
  return nextStep(fields as unknown as Ended);
}

test("a time that is not proven leads to its reason, never to a comparison", () => {
  for (const timing of ["UNPROVEN", "UNSTABLE", "INVALID"])
    expect(next({ status: "ACCEPTED", timing, benchmark_results: [] })).not.toMatch(/[Cc]ompare|^$/);
  expect(next({ status: "ACCEPTED", timing: "LATER" })).toBe("");
});

test("an unsteady time of a processor leads to a GPU, not to another run", () => {
  const final = { status: "ACCEPTED", device: "cpu", timing: "UNSTABLE", benchmark_results: [] };
  expect(next(final)).toContain("on a GPU");
});

test("a proven time leads to what the hardware would still allow", () => {
  const cases = [{ percent_of_roof: 91 }, { percent_of_roof: 31.4 }];
  expect(next({ status: "ACCEPTED", timing: "VALID", benchmark_results: cases })).toContain("31.4 %");
  expect(next({ status: "ACCEPTED", timing: "VALID", benchmark_results: cases.slice(0, 1) })).toContain("near");
  expect(next({ status: "BENCHMARKED", timing: "VALID", test_results: cases })).toContain("31.4 %");
  expect(next({ status: "ACCEPTED", timing: "VALID", shown_interval: 0.2 })).toContain("on a GPU");
});

test("an end that the page does not know leads nowhere", () => {
  expect(next({ status: "LATER", verdict: "LATER" })).toBe("");
  expect(next({ status: "ERROR", verdict: "INFRA_ERROR" })).toContain("again");
});
