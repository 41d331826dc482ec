// The page of one submission: its run and what came of it, its cost, its code, and where to go on.

import { useQuery } from "@tanstack/preact-query";
import { useEffect, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { compareAddress, problemAddress, workbenchAddress } from "../page/addresses";
import { showFailure } from "../page/alert";
import { CopyButton } from "../page/copy_button";
import { dollars, isNumber, seconds } from "../page/format";
import { NotFound, noSubmission } from "../page/not_found";
import * as store from "../page/store";
import { pages } from "../pages";
import { modeName } from "../request/words";
import { cancel, downloadReport, followRun } from "../run/following";
import { LineList } from "../run/line_list";
import type { Run } from "../run/run_state";
import { news, RunView } from "../run/run_view";
import { ChangeDialog } from "../submissions/change_dialog";

type Detail = queries.AnySubmission;

export default function ResultPage({ id }: { id: string }) {
  const { data: submission, error } = useQuery(queries.submission(id));
  const run = useRun(submission);
  const [place, setPlace] = useState({ line: 0, asked: 0 });
  if (error && (error as { status?: number }).status === 404)
    return (
      <NotFound what={noSubmission(id)}>
        <Link href={pages.problems}>Go to the problems</Link>
      </NotFound>
    );
  if (!submission) return <main class="page" aria-busy="true" />;
  return (
    <main class="page result-page">
      <Head submission={submission} />
      <p id="live-status" class="visually-hidden" role="status" aria-live="polite">
        {news(run)}
      </p>
      <div class="card">
        {run ? (
          <RunView
            run={run}
            isWhole
            goTo={(line) => setPlace(({ asked }) => ({ line, asked: asked + 1 }))}
            {...(queries.isOwn(submission) ? { onCancel: () => cancel(id) } : {})}
            onReport={() => downloadReport(id)}
          />
        ) : null}
      </div>
      <Facts submission={submission} />
      <Code submission={submission} place={place} />
    </main>
  );
}

function useRun(submission: Detail | undefined): Run | null {
  const [run, setRun] = useState<Run | null>(null);
  const id = submission?.id;
  // What is read again of the same submission is the same run.
  useEffect(() => {
    if (!submission) return;
    const wasOver = submission.status !== null;
    const following = new AbortController();
    followRun(submission, setRun, following.signal)
      .then(() => {
        if (wasOver || following.signal.aborted) return;
        void queries.queries.invalidateQueries(queries.submission(submission.id));
      })
      .catch(showFailure);
    return () => following.abort();
  }, [id]);
  return run;
}

function Head({ submission }: { submission: Detail }) {
  const { id, problem, name, timing_status: isTimed } = submission;
  const [isChanged, setChanged] = useState(false);
  return (
    <div class="result-head">
      <h1>Result of {name || problem || "a sandbox program"}</h1>
      <span class="mono hint">{id}</span>
      {problem ? (
        <Link class="quiet-link" href={problemAddress(problem)}>
          Problem
        </Link>
      ) : null}
      {isTimed ? (
        <Link class="quiet-link" href={compareAddress(id)}>
          Compare
        </Link>
      ) : null}
      {queries.isOwn(submission) ? (
        <>
          <button id="change-button" class="button small" type="button" onClick={() => setChanged(true)}>
            Name and sharing
          </button>
          <ChangeDialog submission={isChanged ? submission : null} onClose={() => setChanged(false)} />
        </>
      ) : null}
    </div>
  );
}

function Facts({ submission }: { submission: Detail }) {
  const { problem, mode, timing, dtype, gpu_type: asked, hardware: got } = submission;
  const own = queries.isOwn(submission) ? submission : null;
  const facts: [string, string | null][] = [
    ["Mode", [modeName(mode), timing].filter(Boolean).join(", ")],
    ["Element type", problem ? dtype : null],
    ["GPU", got && got !== asked ? `${got} (asked for ${asked})` : asked],
    ["Sent", instant(submission.create_time)],
    ["Started", instant(submission.start_time)],
    ["Ended", instant(submission.end_time)],
    ["Attempts", own && own.attempt > 1 ? String(own.attempt) : null],
    ["Machine", own?.machine_id ?? null],
    ["Cost", own ? costOf(own) : null],
  ];
  return (
    <section class="card" aria-labelledby="facts-heading">
      <div class="card-head">
        <h2 id="facts-heading">{own ? "How it ran, and what it cost" : "How it ran; its owner shares it with you"}</h2>
      </div>
      <dl class="facts">
        {facts.map(([name, value]) =>
          value ? (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ) : null,
        )}
      </dl>
    </section>
  );
}

// With its parts: the time that is charged for, the GPUs, and the price that follows.
function costOf({
  cost_usd: cost,
  billable_seconds: billable,
  got_gpus: gpus,
  status,
}: Schemas["SubmissionDetail"]): string {
  if (!status) return `${dollars(cost)} so far`;
  if (!isNumber(billable) || !billable || !isNumber(gpus) || !gpus) return dollars(cost);
  const price = cost / (billable / 3600) / gpus;
  return `${dollars(cost)} = ${seconds(billable)} × ${gpus} ${gpus === 1 ? "GPU" : "GPUs"} × ${dollars(price)} an hour`;
}

function instant(text: string | null): string | null {
  return text ? new Date(text).toLocaleString() : null;
}

function Code({ submission, place }: { submission: Detail; place: { line: number; asked: number } }) {
  const lines = submission.code.split("\n");
  const [chosen, setChosen] = useState(-1);
  useEffect(() => {
    if (!place.asked) return;
    setChosen(place.line - 1);
    document.getElementById("source")?.scrollIntoView({ block: "nearest" });
  }, [place]);
  return (
    <section class="card" id="source" aria-labelledby="source-heading">
      <div class="card-head">
        <h2 id="source-heading">Code</h2>
        <CopyButton text={submission.code} />
        <UseCode submission={submission} />
      </div>
      <LineList
        id="source-line"
        label="The code as it was sent"
        count={lines.length}
        line={(at) => ({ mark: at + 1, text: lines[at] ?? "" })}
        chosen={chosen}
        shown={chosen}
        onChoose={setChosen}
      />
    </section>
  );
}

// Of a kernel whose definition came with it, it opens beside the problem that was shown last.
function UseCode({ submission: { id, problem, mode } }: { submission: Detail }) {
  const isProgram = mode === "sandbox";
  const wanted = !isProgram && !problem && !store.lastProblem();
  const first = useQuery({ ...queries.problems, enabled: wanted }).data?.problems[0]?.slug;
  const slug = problem || store.lastProblem() || first;
  return isProgram || slug ? (
    <Link class="button small primary" href={workbenchAddress({ id, mode, problem: slug })}>
      Use this code
    </Link>
  ) : null;
}
