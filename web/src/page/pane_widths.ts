// The widths of panes that stand side by side: shares of the whole, which together are 1. A folded pane has none.

export const DEFAULTS = [0.24, 0.38, 0.38] as const;
const LEAST = 0.12;

export interface Widths {
  shares: number[];
  folded: boolean[];
}

// The border after a pane is moved by a share of the whole; both panes beside it keep a least width.
export function moved({ shares, folded }: Widths, border: number, by: number): Widths {
  const [before = 0, after = 0] = [shares[border], shares[border + 1]];
  const both = before + after;
  const next = Math.min(Math.max(before + by, LEAST), both - LEAST);
  if (both < 2 * LEAST || folded[border] || folded[border + 1]) return { shares, folded };
  return { shares: shares.map((share, at) => ({ [border]: next, [border + 1]: both - next })[at] ?? share), folded };
}

// Folds a pane, or unfolds it as wide as it was.
export function toggled({ shares, folded }: Widths, pane: number): Widths {
  return { shares, folded: folded.map((is, at) => (at === pane ? !is : is)) };
}

// The pane that a border folds: the one at its outer side.
export function foldedBy(border: number): number {
  return border === 0 ? 0 : border + 1;
}

// What was kept, if it is sound; panes may have been others then.
export function read(kept: string | null): Widths {
  const fallback = { shares: [...DEFAULTS], folded: DEFAULTS.map(() => false) };
  try {
    const { shares, folded } = JSON.parse(kept ?? "") as Partial<Widths>;
    const isSound =
      shares?.length === DEFAULTS.length &&
      folded?.length === DEFAULTS.length &&
      shares.every((share) => share >= LEAST / 2) &&
      Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 0.01;
    return isSound ? { shares, folded } : fallback;
  } catch {
    return fallback;
  }
}
