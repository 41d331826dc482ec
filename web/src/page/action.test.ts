import { expect, test } from "vitest";
import { ApiError } from "../gateway/api_error";
import { said } from "./action";

const NOW = new Date(2026, 10, 29, 12, 0, 0).getTime();

test("a wrong field is said once, with its name", () => {
  const error = new ApiError(422, "Some fields are not valid: name: is long", [{ field: "name", message: "is long" }]);
  expect(said(error, NOW)).toBe("name: is long");
});

test("a limit says when it is over", () => {
  expect(said(new ApiError(429, "Too many.", [], 40), NOW)).toBe("Too many. Possible again at 12:00:40.");
  expect(said(new ApiError(429, "Too many."), NOW)).toBe("Too many.");
});

test("what a service wants to wait for is no time that anybody is told", () => {
  expect(said(new ApiError(503, "The scheduler is away. Try again.", [], 5), NOW)).toBe(
    "The scheduler is away. Try again.",
  );
});
