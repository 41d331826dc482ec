import { expect, test } from "vitest";
import { addressQueryOf, listChoiceOf, listQueryOf } from "./list_choice";

test("the address holds what is chosen, and nothing else", () => {
  const choice = listChoiceOf(new URLSearchParams("problem=softmax&status=ACCEPTED&sort=fastest&other=x"));
  expect(String(addressQueryOf(choice))).toBe("problem=softmax&status=ACCEPTED&sort=fastest");
  expect(listQueryOf(choice)).toEqual({ problem: "softmax", status: ["ACCEPTED"], sort: "fastest" });
});

test("times of different problems are not sorted", () => {
  const choice = listChoiceOf(new URLSearchParams("sort=fastest"));
  expect(listQueryOf(choice)).toEqual({});
  expect(String(addressQueryOf({ ...choice, sort: "fastest" }))).toBe("");
});

test("what is under way is asked for by its states", () => {
  const choice = listChoiceOf(new URLSearchParams("status=under+way&mode=full"));
  expect(listQueryOf(choice)).toEqual({ state: ["QUEUED", "PROVISIONING", "RUNNING", "SETTLING"], mode: ["full"] });
});
