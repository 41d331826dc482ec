import { expect, test } from "vitest";
import { ago, dollars, exact, figure, milliseconds, seconds } from "./format";

test.each([
  [0.0000123, "12.3 ns"],
  [0.0534, "53.4 µs"],
  [2.5, "2.5 ms"],
  [61_000, "61 s"],
  [null, "–"],
])("%s ms are %s", (value, shown) => {
  expect(milliseconds(value)).toBe(shown);
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
