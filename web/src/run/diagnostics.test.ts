import { expect, test } from "vitest";
import { diagnosed, diagnostic } from "./diagnostics";

test("a compiler's line names a place, a severity and a message", () => {
  expect(diagnostic("solution.hip:4:5: error: use of 'x'")).toEqual({
    line: 4,
    column: 5,
    severity: "error",
    message: "use of 'x'",
  });
  expect(diagnostic("7: fatal error: too many")).toMatchObject({ line: 7, column: 1, severity: "error" });
});

test("what is no diagnostic is none, and notes mark no line", () => {
  expect(diagnostic("    oops;")).toBeNull();
  expect(diagnosed("a.hip:1:1: warning: w\na.hip:2:1: note: n\n    ^\na.hip:0:1: error: e")).toMatchObject([
    { line: 1, severity: "warning" },
  ]);
  expect(diagnosed(undefined)).toEqual([]);
});
