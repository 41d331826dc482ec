// The page of a problem: statement, editor and result side by side.

import { useQuery } from "@tanstack/preact-query";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import { SourceEditor, type SourceEditorCalls } from "../editor/source_editor";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { dollars } from "../page/format";
import { NotFound } from "../page/not_found";
import { Panes } from "../page/panes";
import { pages } from "../pages";
import { Extras } from "../request/extras";
import { RequestBar } from "../request/request_bar";
import { History } from "../run/history";
import { news, RunView } from "../run/run_view";
import { Bench } from "./bench";
import { Statement } from "./statement";

export default function Workbench({ slug, submissionId }: { slug: string; submissionId: string }) {
  const bench = useMemo(() => new Bench(), []);
  const calls = useMemo(
    () => ({
      onEditor: (editor: Bench["editor"]) => {
        bench.editor = editor;
      },
      onChange: (code: string) => bench.remember(code),
      onSubmit: () => void bench.submit(),
      onSample: () => bench.runSample(),
    }),
    [bench],
  );
  useEffect(() => () => bench.close(), [bench]);
  useEffect(() => void bench.arrive({ slug, submissionId }), [bench, slug, submissionId]);
  const gpuTypes = useQuery(queries.gpuTypes).data ?? [];
  const [defaultGpu] = gpuTypes;
  useEffect(() => {
    if (defaultGpu && !bench.form.value.gpuType) bench.change({ gpuType: defaultGpu });
  }, [bench, defaultGpu]);

  const missing = bench.missing.value;
  if (missing) {
    const what = missing.submissionId
      ? `There is no submission ${missing.submissionId} that you may see.`
      : `There is no problem ${missing.slug}.`;
    return (
      <NotFound what={what}>
        <Link href={pages.problems}>Go to the problems</Link>
      </NotFound>
    );
  }
  const panes = [
    { id: "statement-pane", name: "Statement", content: <ProblemCard bench={bench} /> },
    { id: "code-pane", name: "Code", content: <Code bench={bench} gpuTypes={gpuTypes} calls={calls} /> },
    { id: "result-pane", name: "Result", content: <Result bench={bench} /> },
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
          {problem.difficulty.toLowerCase()}
        </span>
      ) : null}
    </div>
  );
}

function Code({ bench, gpuTypes, calls }: { bench: Bench; gpuTypes: string[]; calls: SourceEditorCalls }) {
  const form = bench.form.value;
  return (
    <>
      <div class="pane-head">
        <h2>Your kernel</h2>
        <button
          id="starter-button"
          class="button small"
          type="button"
          disabled={!bench.problem.value}
          onClick={() => bench.takeStarter()}
        >
          Starter
        </button>
      </div>
      <SourceEditor {...calls} />
      <p id="editor-hint" class="hint">
        Tab indents; press Escape first to leave the editor with Tab. Ctrl + Enter submits.
      </p>
      <RequestBar
        form={form}
        canSubmit={Boolean(bench.problem.value && form.gpuType) && !bench.isSubmitting.value}
        onChange={(changes) => bench.change(changes)}
        onSubmit={() => void bench.submit()}
      >
        <Quote bench={bench} />
      </RequestBar>
      <Extras form={form} gpuTypes={gpuTypes} onChange={(changes) => bench.change(changes)} />
    </>
  );
}

function Result({ bench }: { bench: Bench }) {
  const run = bench.run.value;
  return (
    <>
      <p id="live-status" class="visually-hidden" role="status" aria-live="polite">
        {news(run)}
      </p>
      {run ? (
        <RunView
          run={run}
          goTo={(line, column) => bench.goTo(line, column)}
          onCancel={() => void bench.cancel()}
          onReport={() => void bench.downloadReport()}
        />
      ) : (
        <div class="empty">
          <h2>Result</h2>
          <p>
            Nothing was run yet. Full checks every test and then measures; Sample shows one small case with its output.
          </p>
        </div>
      )}
    </>
  );
}

function ProblemCard({ bench }: { bench: Bench }) {
  const [isListed, setListed] = useState(false);
  const problem = bench.problem.value;
  return (
    <>
      <div class="tabs" role="tablist" aria-label="About this problem">
        {[false, true].map((listed) => (
          <button
            type="button"
            role="tab"
            key={String(listed)}
            aria-selected={isListed === listed}
            onClick={() => setListed(listed)}
          >
            {listed ? "Submissions" : "Statement"}
          </button>
        ))}
      </div>
      {isListed && problem ? <Submissions slug={problem.slug} /> : null}
      {problem && problem.dtypes.length > 1 && !isListed ? (
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
      {problem && !isListed ? (
        <Statement problem={problem} dtype={bench.dtype.value} gpuType={bench.form.value.gpuType} />
      ) : null}
    </>
  );
}

function Quote({ bench }: { bench: Bench }) {
  const { data } = useQuery(queries.quote(bench.form.value));
  return (
    <span id="quote" class="hint" title="What a submission puts on hold; you pay for the time that it takes">
      {data ? `at most ${dollars(data.hold_usd)}` : ""}
    </span>
  );
}

function Submissions({ slug }: { slug: string }) {
  const { data } = useQuery(queries.submissionsOf(slug));
  if (!data) return <p class="empty">Reading your submissions…</p>;
  return (
    <div id="history" class="table-scroll">
      <History submissions={data.submissions} />
    </div>
  );
}
