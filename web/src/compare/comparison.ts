// Words of a comparison; one that the page does not know is as good as UNCLEAR.

import type { Kind } from "../run/verdicts";

const TITLES: Record<string, string> = {
  FASTER: "The other is faster",
  SLOWER: "The other is slower",
  SAME: "Both are equally fast",
  UNCLEAR: "The measurements do not tell",
};

export function comparisonTitle(verdict: string): string {
  return TITLES[verdict] ?? `${verdict}: ${TITLES.UNCLEAR}`;
}

export function comparisonWord(verdict: string): string {
  return verdict || "–";
}

// Neither is a doubt good, nor is a difference of no size.
export function comparisonKind(verdict: string): Kind | "" {
  if (verdict === "FASTER") return "good";
  if (verdict === "SLOWER") return "bad";
  return verdict === "SAME" ? "" : "warn";
}
