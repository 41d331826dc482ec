import { expect, test } from "vitest";
import type { Ended } from "./frames";
import { runTitle } from "./tab_state";

test.each([
  [null, "… Running · softmax"],
  [{ status: "ACCEPTED", timing: "VALID" }, "✓ Accepted · VALID · softmax"],
  [{ status: "WRONG_ANSWER" }, "✗ Wrong answer · softmax"],
  [{ status: "CANCELLED" }, "– Cancelled · softmax"],
  [{ status: "A_LATER_END" }, "✗ A_LATER_END · softmax"],
])("%j has the title %s", (final, title) => {
  expect(runTitle({ final: final as Ended | null }, "softmax")).toBe(title);
});
