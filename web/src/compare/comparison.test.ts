import { expect, test } from "vitest";
import { comparisonKind, comparisonTitle } from "./comparison";

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
