import { expect, test } from "vitest";
import { about, machineWords, startFacts, startingWords, startsWords } from "./wait_words";

const ESTIMATE = { p50Seconds: 40, p90Seconds: 120 };

test.each([
  [0, "Starts likely within 40 s, at worst 2 min."],
  [30, "Starts likely within 10 s, at worst 2 min."],
  [60, "Starts any moment, at worst in 1 min."],
  [121, "It waits longer than nine in ten runs like it."],
])("after %i s the estimate is what is left of it", (passed, words) => {
  expect(startsWords(ESTIMATE, passed)).toBe(words);
});

test("what is not known is not guessed", () => {
  expect(startsWords({ p50Seconds: null, p90Seconds: null }, 0)).toContain("Nobody knows");
  expect(startsWords({ p50Seconds: 4, p90Seconds: null }, 0)).toBe("Starts likely within 4 s.");
  expect(startingWords({ p50Seconds: null, p90Seconds: null }, 7)).toBe("7 s so far.");
});

test("the first start of a kind has no estimate, and a time after which it is given up", () => {
  const first = { p50Seconds: null, p90Seconds: null };
  const words = "7 s so far. No estimate yet: first start of this kind";
  expect(startingWords(first, 7, { limitSeconds: 1200 })).toBe(`${words}; given up after 20 min.`);
  expect(startingWords(first, 7, { limitSeconds: null })).toBe(`${words}.`);
  expect(startingWords(ESTIMATE, 12, { limitSeconds: 1200 })).toBe("12 s so far; usually 40 s, at worst 2 min.");
});

test("a machine's start is beside what such starts take", () => {
  expect(startingWords(ESTIMATE, 12)).toBe("12 s so far; usually 40 s, at worst 2 min.");
  expect(startingWords(ESTIMATE, 180)).toMatch(/^3 min 0 s so far.*longer than nine in ten/);
});

test("a machine has its memory and its price, if they are known", () => {
  const machine = { device_title: "AMD MI300X", memory_mib: 196_608, price_usd_per_hour: 1.99 };
  expect(machineWords(machine)).toBe("AMD MI300X (192 GB, $1.99/h)");
  expect(machineWords({ ...machine, memory_mib: 0, price_usd_per_hour: 0 })).toBe("AMD MI300X");
});

test("of a machine that has no title yet, nothing is said behind the stage", () => {
  const machine = { device_title: "", memory_mib: 0, price_usd_per_hour: 0 };
  expect(startFacts("starting", machine)).toBe(" · starting");
  expect(startFacts("booting", { ...machine, device_title: "AMD EPYC" })).toBe(" · booting · AMD EPYC");
});

test.each([
  [0, "1 s"],
  [9.2, "10 s"],
  [41, "45 s"],
  [56, "1 min"],
  [3560, "59 min"],
  [5400, "1.5 h"],
])("%d s are about %s", (seconds, words) => {
  expect(about(seconds)).toBe(words);
});
