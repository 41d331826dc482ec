import { expect, test } from "vitest";
import { addressOfOldLink, problemAddress } from "./addresses";

test.each([
  ["#problem=softmax", "/problems/softmax"],
  ["#problem=softmax&job=job_1", "/problems/softmax?submission=job_1"],
  ["#job=job_1", "/submissions/job_1"],
  ["#code", null],
  ["", null],
])("the old link %s leads to %s", (hash, address) => {
  expect(addressOfOldLink(hash)).toBe(address);
});

test("a name never leaves its place in an address", () => {
  expect(problemAddress("../a?b", "c&d")).toBe("/problems/..%2Fa%3Fb?submission=c%26d");
});
