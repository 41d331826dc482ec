// The right of a workbench: the run that is followed, or what stands there before any.

import { Notifier } from "../run/notifier";
import { news, RunView } from "../run/run_view";
import { useTabState } from "../run/tab_state";
import type { Bench } from "./bench";

export function RunPane({ bench, children: nothingYet }: { bench: Bench; children: string }) {
  const run = bench.run.value;
  const slug = bench.problem.value?.slug ?? "";
  useTabState(run, slug);
  return (
    <>
      <p id="live-status" class="visually-hidden" role="status" aria-live="polite">
        {news(run)}
      </p>
      {run ? <Notifier key={bench.submissionId.value} run={run} problem={slug} /> : null}
      {run ? (
        <RunView
          run={run}
          goTo={(line, column) => bench.goTo(line, column)}
          onCancel={bench.cancel}
          onReport={bench.downloadReport}
        />
      ) : (
        <div class="empty">
          <h2>Result</h2>
          <p>{nothingYet}</p>
        </div>
      )}
    </>
  );
}
