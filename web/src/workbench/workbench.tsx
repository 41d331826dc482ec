// The page of a problem: statement, editor and result side by side.

import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { NotFound, noSubmission } from "../page/not_found";
import { Panes } from "../page/panes";
import { pages } from "../pages";
import { difficultyName } from "../problems/choice";
import { Ranking } from "../rankings/ranking";
import { History } from "../run/history";
import type { Bench } from "./bench";
import { CodePane } from "./code_pane";
import { RunPane } from "./run_pane";
import { Statement } from "./statement";
import { useBench } from "./use_bench";

const NOTHING_YET =
  "Nothing was run yet. Full checks every test and then measures; Sample shows one small case with its output.";

export default function Workbench({ slug, submissionId }: { slug: string; submissionId: string }) {
  const { bench, gpuTypes, calls } = useBench(false, { slug, submissionId });
  const missing = bench.missing.value;
  if (missing) {
    const what = missing.submissionId ? noSubmission(missing.submissionId) : `There is no problem ${missing.slug}.`;
    return (
      <NotFound what={what}>
        <Link href={pages.problems}>Go to the problems</Link>
      </NotFound>
    );
  }
  const panes = [
    { id: "statement-pane", name: "Statement", content: <ProblemCard bench={bench} /> },
    { id: "code-pane", name: "Code", content: <CodePane bench={bench} gpuTypes={gpuTypes} calls={calls} /> },
    { id: "result-pane", name: "Result", content: <RunPane bench={bench}>{NOTHING_YET}</RunPane> },
  ];
  return (
    <Panes
      head={<Title problem={bench.problem.value} />}
      panes={panes}
      chosen={bench.pane.value}
      onChoose={(pane) => {
        bench.pane.value = pane;
      }}
    />
  );
}

function Title({ problem }: { problem: Schemas["ProblemDetail"] | null }) {
  return (
    <div class="problem-head">
      <Link class="quiet-link" href={pages.problems}>
        Problems
      </Link>
      <h1 id="problem-heading">{problem?.title ?? "Problem"}</h1>
      {problem?.difficulty ? (
        <span id="difficulty" class="badge">
          {difficultyName(problem.difficulty)}
        </span>
      ) : null}
    </div>
  );
}

const TABS = ["Statement", "Submissions", "Leaderboard"] as const;

function ProblemCard({ bench }: { bench: Bench }) {
  const [shown, show] = useState<(typeof TABS)[number]>("Statement");
  const problem = bench.problem.value;
  return (
    <>
      <div class="tabs" role="tablist" aria-label="About this problem">
        {TABS.map((name) => (
          <button type="button" role="tab" key={name} aria-selected={name === shown} onClick={() => show(name)}>
            {name}
          </button>
        ))}
      </div>
      {shown === "Submissions" && problem ? <Submissions slug={problem.slug} /> : null}
      {shown === "Leaderboard" && problem ? (
        <Ranking slug={problem.slug} gpuType={bench.form.value.gpuType} dtype={bench.dtype.value} timing="" />
      ) : null}
      {problem && problem.dtypes.length > 1 && shown !== "Submissions" ? (
        <div id="dtype">
          <label class="field-label" for="dtype-select">
            Element type
          </label>
          <select
            id="dtype-select"
            value={bench.dtype.value}
            onChange={({ currentTarget }) => void bench.chooseDtype(currentTarget.value)}
          >
            {problem.dtypes.map((dtype) => (
              <option value={dtype} key={dtype}>
                {dtype}
              </option>
            ))}
          </select>
        </div>
      ) : null}
      {problem && shown === "Statement" ? (
        <Statement problem={problem} dtype={bench.dtype.value} gpuType={bench.form.value.gpuType} />
      ) : null}
    </>
  );
}

function Submissions({ slug }: { slug: string }) {
  const { data, error } = useQuery(queries.submissionsOf(slug));
  if (error) return <p class="empty">Your submissions could not be read: {error.message}</p>;
  if (!data) return <p class="empty">Reading your submissions…</p>;
  return (
    <div id="history">
      <History submissions={data.submissions} isOfProblem empty="You have submitted nothing for this problem yet." />
    </div>
  );
}
