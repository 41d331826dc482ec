import { expect, test } from "vitest";
import { DEFAULTS, moved, read, toggled, type Widths } from "./pane_widths";

const WIDTHS: Widths = { shares: [0.3, 0.4, 0.3], folded: [false, false, false] };

function total({ shares }: Widths): number {
  return shares.reduce((sum, share) => sum + share, 0);
}

test.each([-1, -0.1, 0, 0.05, 1])(
  "a border moved by %s leaves every pane its least width, and the whole whole",
  (by) => {
    const { shares } = moved(WIDTHS, 1, by);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(0.12 - 1e-9);
    expect(total({ ...WIDTHS, shares })).toBeCloseTo(1);
    expect(shares[0]).toBe(0.3);
  },
);

test("a pane that is unfolded is as wide as before", () => {
  const folded = toggled(WIDTHS, 0);
  expect(folded.folded).toEqual([true, false, false]);
  expect(moved(folded, 0, 0.1)).toEqual(folded);
  expect(toggled(folded, 0)).toEqual(WIDTHS);
});

test.each([null, "", "{}", "7", '{"shares":[1,0,0],"folded":[false,false,false]}', '{"shares":[0.5,0.5],"folded":[]}'])(
  "kept widths that are not sound (%s) are forgotten",
  (kept) => {
    expect(read(kept).shares).toEqual([...DEFAULTS]);
  },
);

test("sound widths are kept", () => {
  expect(read(JSON.stringify(WIDTHS))).toEqual(WIDTHS);
});
