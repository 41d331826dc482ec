// The run that is followed.

import { Link } from "wouter-preact";
import { useAction } from "../page/action";
import { submissionAddress } from "../page/addresses";
import { dollars, seconds } from "../page/format";
import { useNow } from "../page/now";
import { CancelButton } from "./cancel_button";
import { type GoTo, Outcome } from "./outcome";
import type { Run, Stage } from "./run_state";
import { endKind, endTitle } from "./verdicts";
import { Waiting } from "./waiting";

const WORDS = { waiting: "not yet", active: "now", done: "done", failed: "ended here", stopped: "stopped here" };
const TICK_MS = 100;
const NOT_ALLOWED = async () => {};

export interface RunCalls {
  goTo: GoTo;
  // Left out by those who may not.
  onCancel?: () => Promise<void>;
  onReport?: () => Promise<void>;
}

// `isWhole`: on the submission's own page, so no link leads there.
export function RunView({ run, isWhole, goTo, onCancel, onReport }: RunCalls & { run: Run; isWhole?: boolean }) {
  const { final, device, costUsd } = run;
  const report = useAction(onReport ?? NOT_ALLOWED);
  const cancel = useAction(onCancel ?? NOT_ALLOWED);
  const title = final ? endTitle(final.status, final) : "Running";
  return (
    <section id="run" class="run" aria-labelledby="run-heading">
      <div class="pane-head">
        <h2 id="run-heading">Run</h2>
        <span id="run-status" class={`badge ${final ? endKind(final.status, final) : "live"}`}>
          {title}
        </span>
        <span id="run-cost" class="run-cost">
          {costUsd ? dollars(costUsd) : ""}
        </span>
        {run.submissionId && !isWhole ? (
          <Link id="result-link" class="quiet-link" href={submissionAddress(run.submissionId)}>
            Own page
          </Link>
        ) : null}
        {final?.has_report && onReport ? (
          <button id="report-button" class="button small" type="button" onClick={() => void report.act()}>
            Signed report
          </button>
        ) : null}
        {final || !onCancel ? null : <CancelButton costUsd={costUsd} onCancel={() => void cancel.act()} />}
      </div>
      <p id="run-refusal" class="field-error" role="alert" hidden={!(cancel.refusal || report.refusal)}>
        {cancel.refusal || report.refusal}
      </p>
      <p id="run-line" class="run-line">
        {final ? (device?.title ?? final.device_title ?? "") : run.line}
      </p>
      <ol id="stages" class="stages" aria-label="Stages">
        {run.stages.map((stage) => (
          <StageItem key={stage.name} stage={stage} offsetMs={run.clockOffsetMs} />
        ))}
      </ol>
      <Waiting run={run} />
      <div id="outcome" class="outcome">
        <Outcome run={run} goTo={goTo} />
      </div>
    </section>
  );
}

// What screen readers are told.
export function news(run: Run | null): string {
  if (!run?.final) return run?.line ?? "";
  return `${endTitle(run.final.status, run.final)}. ${run.final.message ?? ""}`;
}

function StageItem({ stage, offsetMs }: { stage: Stage; offsetMs: number }) {
  const { name, state, begin, end } = stage;
  const isActive = state === "active";
  const now = useNow(TICK_MS, isActive && begin !== null);
  const offset = Number.isFinite(offsetMs) ? offsetMs : 0;
  const last = end ?? (isActive ? now - offset : begin);
  return (
    <li class={`stage ${state}`} aria-current={isActive ? "step" : undefined}>
      <span class="stage-name">
        {name}
        <span class="visually-hidden">, {WORDS[state]}</span>
      </span>
      <span class="stage-time">{begin === null || last === null ? "" : seconds((last - begin) / 1000)}</span>
    </li>
  );
}
