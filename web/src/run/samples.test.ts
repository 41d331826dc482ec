import { expect, test } from "vitest";
import { axisOf } from "./distribution";
import { axisOfSamples, beyond, dotsOf, tracesOf } from "./samples";

const SIZE = { width: 100, height: 10 };
const axis = axisOf({ min_ms: 1, p95_ms: 2, max_ms: 2 });

test("samples go from left to right through all sessions, slow ones above", () => {
  const sessions = [
    { session: 1, samples_ms: [1, 2], replaced: [] },
    { session: 2, samples_ms: [1.5, 1], replaced: [] },
  ];
  expect(axis && dotsOf(sessions, axis, SIZE)).toEqual(["M12.5 10.0h0M37.5 0.0h0", "M62.5 5.0h0M87.5 10.0h0"]);
});

test("the axis of samples is their own, and what is beyond it is counted", () => {
  const sessions = [{ session: 1, samples_ms: [1, 2, 3, 4, 50], replaced: [] }];
  const own = axisOfSamples(sessions);
  expect(own).toMatchObject({ low: 1, high: 10, isCut: true });
  expect(own && beyond(sessions, own)).toEqual({ count: 1, longest: 50 });
  expect(axisOfSamples([{ session: 1, samples_ms: [2], replaced: [] }])).toBeNull();
});

test("an instrument stands at the sample that it was read after, and one that is missing has no line", () => {
  const instruments = [
    { sample: 0, time_ms: 3, clock_mhz: 2100, temperature_celsius: null, power_watts: null },
    { sample: 3, time_ms: 9, clock_mhz: 1900, temperature_celsius: null, power_watts: null },
  ];
  expect(tracesOf({ sessions: [], instruments }, 4, SIZE)).toEqual([
    { name: "Clock", unit: "MHz", low: 1900, high: 2100, path: "M12.5 0.0L87.5 10.0" },
  ]);
  expect(tracesOf({ sessions: [], instruments: [] }, 4, SIZE)).toEqual([]);
});
