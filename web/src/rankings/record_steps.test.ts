import { expect, test } from "vitest";
import { stepsOf } from "./record_steps";

const SIZE = { width: 100, height: 40 };
const at = (hour: number, ms: number) => ({
  time: `2026-11-29T${String(hour).padStart(2, "0")}:00:00Z`,
  runtime_ms: ms,
});
const NOON = Date.parse("2026-11-29T12:00:00Z");

test("each record holds until the next one, and the last one until now", () => {
  const steps = stepsOf([[at(2, 100), at(7, 10), at(12, 1)], [at(7, 10)]], NOON, SIZE);
  expect(steps).toEqual({
    begin: Date.parse("2026-11-29T02:00:00Z"),
    low: 1,
    high: 100,
    paths: ["M0.0 0.0H50.0V20.0H100.0V40.0H100", "M50.0 20.0H100"],
  });
});

test("a single record is a line in the middle", () => {
  expect(stepsOf([[at(2, 5)], []], NOON, SIZE)?.paths).toEqual(["M0.0 20.0H100", ""]);
});

test("a clock that is behind draws nothing outside", () => {
  expect(stepsOf([[at(2, 4), at(12, 2)]], NOON - 3_600_000, SIZE)?.paths).toEqual(["M0.0 0.0H100.0V40.0H100"]);
});

test("times that are none are left out, and without any there is nothing to draw", () => {
  const none = [at(2, 0), at(3, Number.NaN), { time: null, runtime_ms: 4 }];
  expect(stepsOf([none], NOON, SIZE)).toBeNull();
  expect(stepsOf([[...none, at(4, 4)]], NOON, SIZE)?.paths).toEqual(["M0.0 20.0H100"]);
});
