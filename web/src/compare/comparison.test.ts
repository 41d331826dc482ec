import { expect, test } from "vitest";
import { comparisonKind, comparisonTitle, isCandidate } from "./comparison";

const base = {
  id: "job_1",
  problem: "softmax",
  dtype: "float32",
  gpu_type: "MI300X",
  machine_gpu_type: null,
  timing: null,
  timing_status: "VALID",
} as const;

test("only what is surely faster is good, and a later word is a doubt", () => {
  expect(["FASTER", "SLOWER", "SAME", "UNCLEAR", "LATER"].map(comparisonKind)).toEqual([
    "good",
    "bad",
    "",
    "warn",
    "warn",
  ]);
  expect(comparisonTitle("LATER")).toBe("LATER: The measurements do not tell");
});

test("submissions that were timed in another way, or not at all, are no candidates", () => {
  const other = { ...base, id: "job_2" };
  expect(isCandidate(base, other)).toBe(true);
  expect(isCandidate(base, base)).toBe(false);
  for (const change of [
    { dtype: "float16" },
    { gpu_type: "MI250X" },
    { machine_gpu_type: "MI210" },
    { timing: "cold" as const },
    { timing_status: null },
    { problem: "gelu" },
  ])
    expect(isCandidate(base, { ...other, ...change })).toBe(false);
});
