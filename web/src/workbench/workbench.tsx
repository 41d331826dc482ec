// The page of a problem: statement, editor, run and recent submissions.

import { useQuery } from "@tanstack/preact-query";
import { useEffect, useMemo } from "preact/hooks";
import { Link } from "wouter-preact";
import { navigate } from "wouter-preact/use-browser-location";
import { SourceEditor } from "../editor/source_editor";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { problemAddress } from "../page/addresses";
import { dollars } from "../page/format";
import { Markdown } from "../page/markdown";
import { NotFound } from "../page/not_found";
import { pages } from "../pages";
import { Extras } from "../request/extras";
import { RequestBar } from "../request/request_bar";
import { History } from "../run/history";
import { news, RunView } from "../run/run_view";
import { Bench } from "./bench";

export default function Workbench({ slug, submissionId }: { slug: string; submissionId: string }) {
  const bench = useMemo(() => new Bench(), []);
  const calls = useMemo(
    () => ({
      onEditor: (editor: Bench["editor"]) => {
        bench.editor = editor;
      },
      onChange: (code: string) => bench.remember(code),
      onSubmit: () => void bench.submit(),
    }),
    [bench],
  );
  useEffect(() => () => bench.close(), [bench]);
  const problems = useQuery(queries.problems).data?.problems;
  const first = problems?.[0]?.slug ?? "";
  useEffect(() => {
    if (slug || submissionId) bench.arrive({ slug, submissionId });
    else if (first) navigate(problemAddress(first), { replace: true });
  }, [bench, slug, submissionId, first]);
  const gpuTypes = (useQuery(queries.gpuTypes).data?.gpu_types ?? []).map(({ gpu_type: type }) => type);
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
        <Link href={first ? problemAddress(first) : pages.home}>Go to the problems</Link>
      </NotFound>
    );
  }
  const form = bench.form.value;
  const run = bench.run.value;
  return (
    <main class="layout">
      <p id="live-status" class="visually-hidden" role="status" aria-live="polite">
        {news(run)}
      </p>
      <ProblemCard bench={bench} problems={problems ?? []} />
      <section class="card workbench" aria-labelledby="editor-heading">
        <div class="card-head">
          <h2 id="editor-heading">Your kernel</h2>
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
      </section>
      {run ? (
        <RunView
          run={run}
          goTo={(line, column) => bench.goTo(line, column)}
          onCancel={() => void bench.cancel()}
          onReport={() => void bench.downloadReport()}
        />
      ) : null}
      <RecentSubmissions />
    </main>
  );
}

function ProblemCard({ bench, problems }: { bench: Bench; problems: Schemas["ProblemSummary"][] }) {
  const problem = bench.problem.value;
  return (
    <section class="card problem" aria-labelledby="problem-heading">
      <div class="card-head">
        <h1 id="problem-heading">{problem?.title ?? "Problem"}</h1>
        {problem?.difficulty ? (
          <span id="difficulty" class="badge">
            {problem.difficulty.toLowerCase()}
          </span>
        ) : null}
      </div>
      <label class="field-label" for="problem-select">
        Problem to solve
      </label>
      <select
        id="problem-select"
        disabled={!problems.length}
        value={problem?.slug ?? ""}
        onChange={({ currentTarget }) => navigate(problemAddress(currentTarget.value))}
      >
        {problem ? null : <option value="">{problems.length ? "" : "Enter your token to see the problems"}</option>}
        {problems.map(({ slug, title }) => (
          <option value={slug} key={slug}>
            {title}
          </option>
        ))}
      </select>
      {problem && problem.dtypes.length > 1 ? (
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
      {problem ? <Statement {...problem} /> : null}
    </section>
  );
}

function Statement({ signature, statement }: Schemas["ProblemDetail"]) {
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: people scroll it with the keyboard */}
      <section id="signature" class="signature" aria-label="Signature" tabIndex={0}>
        {`extern "C" void solution(\n    ${signature.split(/,\s*/).join(",\n    ")})`}
      </section>
      <Markdown id="statement" class="statement" text={statement} isShown={isNews} />
    </>
  );
}

// The page shows title and signature already.
function isNews(tag: string, text: string, at: number): boolean {
  return !(at === 0 && tag === "h1") && !(tag === "code" && text.startsWith('extern "C" void solution('));
}

function Quote({ bench }: { bench: Bench }) {
  const { data } = useQuery(queries.quote(bench.form.value));
  return (
    <span id="quote" class="hint" title="What a submission puts on hold; you pay for the time that it takes">
      {data ? `at most ${dollars(data.hold_usd)}` : ""}
    </span>
  );
}

function RecentSubmissions() {
  const { data, refetch } = useQuery(queries.recentSubmissions);
  return (
    <section class="card history" aria-labelledby="history-heading">
      <div class="card-head">
        <h2 id="history-heading">Recent submissions</h2>
        <button id="refresh-button" class="button small" type="button" disabled={!data} onClick={() => void refetch()}>
          Refresh
        </button>
      </div>
      <div id="history" class="table-scroll">
        <History submissions={data?.submissions ?? []} />
      </div>
    </section>
  );
}
