import { expect, test } from "vitest";
import { choicesOf, DEFAULT_CHOICES } from "./choices";

test("choices are read as they were kept", () => {
  const chosen = { vim: true, wrap: true, fontSize: 18 };
  expect(choicesOf(JSON.stringify(chosen))).toEqual(chosen);
});

test.each([null, "", "no JSON", "null", "7", '{"vim":"yes","fontSize":9000}'])(
  "of %j the editor is as for everybody",
  (kept) => {
    expect(choicesOf(kept)).toEqual(DEFAULT_CHOICES);
  },
);
