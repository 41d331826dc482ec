// What a tab's title and icon say of its run.

import { useEffect } from "preact/hooks";
import usual from "../icon.svg";
import bad from "./icon_bad.svg";
import good from "./icon_good.svg";
import live from "./icon_live.svg";
import warn from "./icon_warn.svg";
import type { Run } from "./run_state";
import { endTitle, statusKind } from "./verdicts";

const NAME = "Wavepool";
const MARKS = { good: "✓", warn: "–", bad: "✗", live: "…" };
const ICONS = { good, warn, bad, live };

export function runTitle({ final }: Pick<Run, "final">, problem: string): string {
  return `${MARKS[kindOf(final)]} ${final ? endTitle(final.status, final) : "Running"} · ${problem || "sandbox"}`;
}

export function useTabState(run: Run | null, problem: string): void {
  const title = run ? runTitle(run, problem) : NAME;
  const icon = run ? ICONS[kindOf(run.final)] : usual;
  useEffect(() => {
    show(title, icon);
    return () => show(NAME, usual);
  }, [title, icon]);
}

function kindOf(final: Run["final"]): keyof typeof MARKS {
  return final ? statusKind(final.status) : "live";
}

function show(title: string, icon: string): void {
  document.title = title;
  document.querySelector("link[rel=icon]")?.setAttribute("href", icon);
}
