import { expect, test } from "vitest";
import { isDue, keyOf, lines, surplus, type VersionKey } from "./versions";

const MIB = 1 << 20;

function versions(draft: string, count: number, characters = 10): VersionKey[] {
  return Array.from({ length: count }, (_, at) => [draft, at, characters]);
}

test("the last 30 of each draft stay", () => {
  expect(surplus([...versions("a", 32), ...versions("b", 30)])).toEqual([
    ["a", 1, 10],
    ["a", 0, 10],
  ]);
});

test("of large texts the oldest go, whichever draft they are of", () => {
  const keys: VersionKey[] = [...versions("a", 30, MIB), ["b", 100, 2 * MIB], ["b", -1, 10]];
  expect(surplus(keys)).toEqual([["b", -1, 10]]);
  expect(surplus([...versions("a", 30, MIB), ["b", 100, 4 * MIB]])).toHaveLength(2);
});

test("while somebody types, versions are two minutes apart", () => {
  expect(isDue(0, 119_000)).toBe(false);
  expect(isDue(0, 120_000)).toBe(true);
});

test("a version is named by its draft, its time and its length", () => {
  expect(keyOf({ draft: "a", at: 7, why: "", code: "xyz" })).toEqual(["a", 7, 3]);
  expect([lines(""), lines("a\nb")]).toEqual(["1 line", "2 lines"]);
});
