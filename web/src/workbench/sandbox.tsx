// A whole program of somebody's own: what one may be, its source, and what it prints.

import { useQuery } from "@tanstack/preact-query";
import { Link } from "wouter-preact";
import * as queries from "../gateway/queries";
import { NotFound, noSubmission } from "../page/not_found";
import { Panes } from "../page/panes";
import { pages } from "../pages";
import { History } from "../run/history";
import { CodePane } from "./code_pane";
import { RunPane } from "./run_pane";
import { useBench } from "./use_bench";

const NOTHING_YET = "Nothing was run yet. What the program prints comes here line by line, as it prints it.";

export default function Sandbox({ submissionId }: { submissionId: string }) {
  const { bench, gpuTypes, calls } = useBench(true, { slug: "", submissionId });
  if (bench.missing.value)
    return (
      <NotFound what={noSubmission(bench.missing.value.submissionId)}>
        <Link href={pages.sandbox}>Go to the sandbox</Link>
      </NotFound>
    );
  const panes = [
    { id: "statement-pane", name: "About", content: <About /> },
    { id: "code-pane", name: "Code", content: <CodePane bench={bench} gpuTypes={gpuTypes} calls={calls} /> },
    { id: "result-pane", name: "Output", content: <RunPane bench={bench}>{NOTHING_YET}</RunPane> },
  ];
  return (
    <Panes
      head={
        <div class="problem-head">
          <h1>Sandbox</h1>
        </div>
      }
      panes={panes}
      chosen={bench.pane.value}
      onChoose={(pane) => {
        bench.pane.value = pane;
      }}
    />
  );
}

function About() {
  const { data } = useQuery(queries.programs);
  return (
    <>
      <div class="pane-head">
        <h2>A program of your own</h2>
      </div>
      <p>
        Write a whole HIP program, with its own <code>main</code>. It is compiled and run once on the GPU that you
        choose, and you see what it prints while it runs.
      </p>
      <p>
        Nothing is checked or timed, so nothing ranks. The program has no network, and ends when it returns, prints too
        much or takes too long; you pay for the seconds that it used.
      </p>
      <p>
        To have a kernel checked and timed, <Link href={pages.problems}>choose a problem</Link>.
      </p>
      <div id="programs">
        <h3>Your programs</h3>
        {data ? (
          <History submissions={data.submissions} empty="You have run no program yet: press Run to run the starter." />
        ) : (
          <p class="empty">Reading your programs…</p>
        )}
      </div>
    </>
  );
}
