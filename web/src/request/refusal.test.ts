import { expect, test } from "vitest";
import { ApiError } from "../gateway/api_error";
import { refusalOf, waitAgain } from "./refusal";

const NOW = new Date(2026, 10, 29, 12, 0, 0).getTime();

test("a service that is away is asked three times more, each after a longer time", () => {
  const away = new ApiError(503, "away");
  expect([1, 2, 3, 4].map((failures) => waitAgain(away, failures))).toEqual([1, 2, 4, null]);
});

test("the wait that the gateway asks for is kept, unless it is longer than anybody waits", () => {
  expect(waitAgain(new ApiError(503, "away", [], 7), 1)).toBe(7);
  expect(waitAgain(new ApiError(503, "away", [], 600), 1)).toBeNull();
});

test.each([400, 401, 402, 403, 409, 422, 429, 500])("what is refused with %i is not sent again", (status) => {
  expect(waitAgain(new ApiError(status, "no"), 1)).toBeNull();
});

test("a wrong field is said once", () => {
  const error = new ApiError(422, "Some fields are not valid: code: is required", [
    { field: "code", message: "is required" },
  ]);
  expect(refusalOf(error, NOW)).toEqual({ text: "Not submitted; correct this:", fields: ["code: is required"] });
});

test("a limit says when it is over", () => {
  expect(refusalOf(new ApiError(429, "Too many.", [], 40), NOW).text).toBe("Too many. Possible again at 12:00:40.");
  expect(refusalOf(new ApiError(429, "Too many."), NOW).text).toBe("Too many.");
});

test("missing credit says how to get some", () => {
  const { text } = refusalOf(new ApiError(402, "$0.40 is missing."), NOW);
  expect(text).toMatch(/^\$0\.40 is missing\. .*wavepool grants add/);
});
