import { expect, test } from "vitest";
import { found, listingOf, nearestRow, withoutSource } from "./listing";

const TEXT = `_Z3addPf:
    s_endpgm_saved
  ; 4: int i = threadIdx.x;
    s_load_dword s4, s[0:1], 0x1c
  ; 5: out[i] = a[i];
.LBB0_2:
    v_add_u32 v0, v0, s4  ; spill
  ; 4: int i = threadIdx.x;
    v_mov_b32 v1, 0

_Z3subPf:
    s_endpgm
; the rest was cut off: the listing is longer than 256 KiB
`;

test("each instruction has the line that stands above it, within its kernel", () => {
  const { rows } = listingOf(TEXT);
  expect(rows.map(({ kind, line }) => `${kind} ${line}`)).toEqual([
    "kernel 0",
    "instruction 0",
    "source 4",
    "instruction 4",
    "source 5",
    "label 5",
    "instruction 5",
    "source 4",
    "instruction 4",
    "empty 0",
    "kernel 0",
    "instruction 0",
    "note 0",
  ]);
  expect(rows[6]?.text).toBe("v_add_u32 v0, v0, s4  ; spill");
});

test("a line has all its instructions, wherever the compiler put them", () => {
  const listing = listingOf(TEXT);
  expect(listing.rowsOf.get(4)).toEqual([3, 8]);
  expect(nearestRow(listing, 4, 7)).toBe(8);
  expect(nearestRow(listing, 4, 0)).toBe(3);
  expect(nearestRow(listing, 1, 0)).toBe(-1);
});

test("beside the source its lines are not repeated, and rows keep their numbers", () => {
  expect(withoutSource(listingOf(TEXT))).toEqual([0, 1, 3, 5, 6, 8, 9, 10, 11, 12]);
});

test("a search goes on from where it was, and begins again at the end", () => {
  const { rows } = listingOf(TEXT);
  expect(found(rows, "S_ENDPGM", -1)).toBe(1);
  expect(found(rows, "s_endpgm", 1)).toBe(11);
  expect(found(rows, "s_endpgm", 11)).toBe(1);
  expect(found(rows, "nothing", 3)).toBe(-1);
  expect(found(rows, " ", 3)).toBe(-1);
});

test("no listing has no rows", () => {
  expect(listingOf("").rows).toEqual([]);
});

test("a listing of 256 KiB is read within a moment", () => {
  const text = `k:\n${Array.from({ length: 9000 }, (_, at) => `  ; ${at}: x\n    v_add_u32 v0`).join("\n")}\n`;
  const begin = performance.now();
  expect(listingOf(text).rows).toHaveLength(18_001);
  expect(performance.now() - begin).toBeLessThan(500);
});
