// Earlier texts of a draft, which this browser keeps: which of them, and for how long.

const MOST = 30;
// Of all drafts together: a few hundred sources of the largest size are too many for a browser.
const MOST_CHARACTERS = 32 << 20;
const TYPING_MS = 120_000;

export interface Version {
  draft: string;
  at: number;
  // What happened to it.
  why: string;
  code: string;
}

// Of a version; enough to say which ones go.
export type VersionKey = [draft: string, at: number, characters: number];

export function keyOf({ draft, at, code }: Version): VersionKey {
  return [draft, at, code.length];
}

// Those that go: all but the last 30 of each draft, and the oldest of all that do not fit.
export function surplus(keys: readonly VersionKey[]): VersionKey[] {
  const kept = new Map<string, number>();
  let characters = 0;
  return keys
    .toSorted(([, one], [, other]) => other - one)
    .filter(([draft, , length]) => {
      const count = (kept.get(draft) ?? 0) + 1;
      characters += length;
      if (count > MOST || characters > MOST_CHARACTERS) return true;
      kept.set(draft, count);
      return false;
    });
}

// While somebody types, a version is kept every two minutes.
export function isDue(last: number, now: number): boolean {
  return now - last >= TYPING_MS;
}

export function lines(code: string): string {
  const count = code.split("\n").length;
  return count === 1 ? "1 line" : `${count.toLocaleString("en-US")} lines`;
}
