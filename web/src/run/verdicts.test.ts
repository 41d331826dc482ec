import { expect, test } from "vitest";
import { endKind, endTitle, isMeasured, testKind, timingKind, timingWord, verdictTitle } from "./verdicts";

test("a time that is valid only within an interval is not called valid", () => {
  expect(timingWord({ timing: "VALID", shown_interval: 0.213 })).toBe("UNSTABLE ± 21 %");
  expect(timingKind({ timing: "VALID", shown_interval: 0.213 })).toBe("warn");
});

test("a word of a newer server is shown and never good", () => {
  expect(timingWord({ timing: "LATER" })).toBe("LATER");
  expect(timingKind({ timing: "LATER" })).toBe("warn");
  expect(verdictTitle({ status: "LATER" })).toBe("LATER");
  expect(isMeasured({ timing: "LATER" })).toBe(false);
});

test("a finer verdict stands beside what front ends call it", () => {
  expect(verdictTitle({ status: "RUNTIME_ERROR", verdict: "OUT_OF_BOUNDS" })).toBe("Runtime error · out of bounds");
  expect(verdictTitle({ status: "ERROR", verdict: "INFRA_ERROR" })).toBe("Our fault, not charged");
  expect(verdictTitle({ status: "ACCEPTED", verdict: "ACCEPTED" })).toBe("Accepted");
});

test("only what was right has a timing beside it", () => {
  expect(endTitle("ACCEPTED", { timing: "VALID" })).toBe("Accepted · VALID");
  expect(endTitle("WRONG_ANSWER", { timing: "VALID" })).toBe("Wrong answer");
});

test.each([
  ["ACCEPTED", { timing: "VALID" }, "good"],
  ["ACCEPTED", { timing: "VALID", shown_interval: 0.2 }, "warn"],
  ["ACCEPTED", { timing: "UNPROVEN" }, "warn"],
  ["ACCEPTED", { timing: "LATER" }, "warn"],
  ["ACCEPTED", {}, "good"],
  ["BENCHMARKED", {}, "warn"],
  ["CHECKED", { timing: "UNSPECIFIED" }, "good"],
  ["LATER", { timing: "VALID" }, "bad"],
  ["SAMPLE_ONLY", { timing: "VALID" }, "warn"],
])("%s with %o is %s", (status, timing, kind) => {
  expect(endKind(status, timing)).toBe(kind);
});

test("a test that was not run, or whose outcome is not known, is neither good nor bad", () => {
  expect(testKind("PASSED").kind).toBe("good");
  expect(testKind("FAILED").kind).toBe("bad");
  expect(testKind("NOT_RUN")).toEqual({ kind: "", mark: "–", word: "not run" });
  expect(testKind("LATER")).toEqual({ kind: "", mark: "–", word: "LATER" });
});
