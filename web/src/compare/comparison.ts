// Words of a comparison; one that the page does not know is as good as UNCLEAR.

import type { Schemas } from "../gateway/client";
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

type Timed = Pick<
  Schemas["Submission"],
  "id" | "problem" | "dtype" | "gpu_type" | "machine_gpu_type" | "timing" | "timing_status"
>;

// Whether two submissions can be compared, as far as lists of them tell.
export function isCandidate(base: Timed, other: Timed): boolean {
  const gpu = (one: Timed) => one.machine_gpu_type ?? one.gpu_type;
  return (
    base.id !== other.id &&
    Boolean(other.timing_status) &&
    base.problem === other.problem &&
    base.dtype === other.dtype &&
    base.timing === other.timing &&
    gpu(base) === gpu(other)
  );
}
