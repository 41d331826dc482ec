import { expect, test } from "vitest";
import { calendarOf } from "./calendar";

// A Sunday.
const NOW = Date.parse("2026-11-29T23:59:00Z");
const squares = (path = "") => path.split("M").slice(1);

test("the last day is at the bottom of the last week if it is a Sunday", () => {
  const { levels, width, height } = calendarOf([{ date: "2026-11-29", submissions: 4 }], NOW);
  expect(levels[2]).toBe("M624 72h10v10h-10z");
  expect([width, height]).toEqual([636, 84]);
});

test("a week that has just begun has one square", () => {
  const { levels } = calendarOf([{ date: "2026-11-30", submissions: 1 }], NOW + 60_000);
  expect(levels[1]).toBe("M624 0h10v10h-10z");
  expect(levels.flatMap(squares)).toHaveLength(52 * 7 + 1);
});

test("each day has one square, of the level of its submissions", () => {
  const days = [1, 2, 3, 6, 10, 4000].map((submissions, at) => ({ date: `2026-11-0${at + 1}`, submissions }));
  const { levels } = calendarOf(days, NOW);
  expect(levels.map((path) => squares(path).length)).toEqual([53 * 7 - 6, 2, 1, 1, 2]);
});

test("days before the first week are left out, and months stand above the week of their first day", () => {
  const { levels, months } = calendarOf([{ date: "2025-11-01", submissions: 1 }], NOW);
  expect(levels[1]).toBe("");
  expect(months).toHaveLength(12);
  expect([months[0], months.at(-1)]).toEqual([
    { x: 12, name: "Dec" },
    { x: 576, name: "Nov" },
  ]);
});
