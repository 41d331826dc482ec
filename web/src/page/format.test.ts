import { expect, test } from "vitest";
import { ago, dollars, exact, figure, inUnit, listed, measured, milliseconds, seconds, unitOf, within } from "./format";

test.each([
  [0.0000123, "12.3 ns"],
  [0.0534, "53.4 µs"],
  [2.5, "2.5 ms"],
  [61_000, "61 s"],
  [null, "–"],
])("%s ms are %s", (value, shown) => {
  expect(milliseconds(value)).toBe(shown);
});

test.each([
  [0.05345, 0.042, "53 ± 42 µs"],
  [0.05345, 0.0996, "50 ± 100 µs"],
  [2.5, 0.1, "2,500 ± 100 µs"],
  [0.0025, 0.00001, "2.500 ± 0.010 µs"],
  [1.23456, 0.42, "1,230 ± 420 µs"],
  [0.053, 0, "53 µs"],
  [0.053, Number.NaN, "53 µs"],
  [null, 1, "–"],
])("%s ms within %s ms are %s", (ms, half, shown) => {
  expect(measured(ms, half, unitOf([0.05]))).toBe(shown);
});

test("times of one table have the unit of their geometric mean", () => {
  const unit = unitOf([0.04, 4, 0.9]);
  expect(unit.name).toBe("µs");
  expect(measured(4, 0.05, unit)).toBe("4,000 ± 50 µs");
  expect(inUnit(0.04123, 0.002, unit)).toBe("41 µs");
  expect(unitOf([]).name).toBe("ms");
  expect(unitOf([0.0000005]).name).toBe("ns");
});

test("what follows from a time has no digit that the time's interval does not leave", () => {
  expect(within(1.5, 0.06)).toBe("1.5");
  expect(within(1234.5, 31)).toBe("1,230");
  expect(within(98.7654, 0)).toBe("98.77");
});

test("numbers that nobody reads are short, and what is none is a dash", () => {
  expect(figure(3.361274e38)).toBe("3.361e+38");
  expect(figure(Number.NaN)).toBe("–");
  expect(figure(1234.5)).toBe("1,235");
});

test("small sums have all their digits", () => {
  expect(dollars(0.001234)).toBe("$0.001234");
  expect(dollars(1000)).toBe("$1,000.00");
  expect(dollars(0)).toBe("$0.00");
});

test("a float is told from its neighbours", () => {
  expect(exact(0.1 + 0.2)).toBe("0.3");
  expect(exact(16777217)).toBe("16777217");
  expect(exact(null)).toBe("–");
});

test("time that has passed is in words", () => {
  const now = Date.parse("2026-11-29T12:00:00Z");
  expect(ago("2026-11-29T11:59:30Z", now)).toBe("just now");
  expect(ago("2026-11-29T09:00:00Z", now)).toBe("3 h ago");
  expect(ago(null, now)).toBe("–");
  expect(seconds(95)).toBe("1 min 35 s");
});

test("a time in a list has the digits that it is worth", () => {
  expect(listed(0.0517815, false, 0.31)).toBe("52 ± 16 µs");
  expect(listed(0.0517815, true)).toBe("51.8 µs");
  expect(listed(0.0517815, false)).toBe("52 µs");
  expect(listed(null, true)).toBe("–");
});
