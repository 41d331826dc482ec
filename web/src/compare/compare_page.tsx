// Two submissions beside each other: which kernel is faster, by how much, and how their sources differ.

import { useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link, useSearchParams } from "wouter-preact";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { compareAddress, submissionAddress } from "../page/addresses";
import { ago, inUnit, type TimeUnit, unitOf, within } from "../page/format";
import { later } from "../page/later";
import { NotFound, noSubmission } from "../page/not_found";
import { Table } from "../page/table";
import { pages } from "../pages";
import { endTitle, timingWord } from "../run/verdicts";
import { comparisonKind, comparisonTitle, comparisonWord } from "./comparison";

const PROVEN = "VALID";
const READING = <p class="empty">Reading…</p>;
const SourceDiff = later(() => import("./source_diff"), READING);
const CASE_COLUMNS = ["Case", "Base", "Other", "Times as fast", "95 % interval", "Verdict"].map((title, at) => ({
  title,
  class: at > 0 && at < 5 ? "number" : "",
}));
const CHOICE_COLUMNS = [{ title: "Submission" }, { title: "Result" }, { title: "When", class: "number" }];

export default function ComparePage() {
  const [query] = useSearchParams();
  const [base, other] = [query.get("base") ?? "", query.get("other") ?? ""];
  if (!base)
    return (
      <NotFound what="This address names no submission to compare.">
        <Link href={pages.problems}>Go to the problems</Link>
      </NotFound>
    );
  return (
    <main class="page result-page">
      <div class="result-head">
        <h1>Compare</h1>
        {other ? (
          <Link class="quiet-link" href={compareAddress(other, base)}>
            Swap
          </Link>
        ) : null}
        <Link class="quiet-link" href={submissionAddress(base)}>
          Base
        </Link>
        {other ? (
          <Link class="quiet-link" href={submissionAddress(other)}>
            Other
          </Link>
        ) : null}
      </div>
      {other ? <Compared key={`${base} ${other}`} base={base} other={other} /> : <Choice base={base} />}
    </main>
  );
}

function Compared({ base, other }: { base: string; other: string }) {
  const doubt = useDoubt(base, other);
  const { data: answer, error } = useQuery(queries.comparison(base, other));
  const gone = useGone(base, other);
  return (
    <>
      <section class="card" aria-labelledby="speed-heading">
        <div class="card-head">
          <h2 id="speed-heading">
            {other} against {base}
          </h2>
        </div>
        {gone || error ? <p class="empty">{gone || error?.message}</p> : null}
        {gone || error || answer ? null : READING}
        {!gone && answer && "refused" in answer ? (
          <div class="verdict warn">
            <strong>They cannot be compared</strong>
            <p>{answer.refused}</p>
          </div>
        ) : null}
        {!gone && answer && !("refused" in answer) ? <Speed comparison={answer} doubt={doubt} /> : null}
      </section>
      <Sources base={base} other={other} />
      <Choice base={base} other={other} />
    </>
  );
}

// Which of them is not there, in the words of the other pages; empty if both are.
function useGone(base: string, other: string): string {
  const errors = [useQuery(queries.submission(base)).error, useQuery(queries.submission(other)).error];
  return [base, other]
    .filter((_, at) => (errors[at] as { status?: number } | null)?.status === 404)
    .map(noSubmission)
    .join(" ");
}

// Why the times themselves are in doubt; empty if both are proven.
function useDoubt(base: string, other: string): string {
  const both = [useQuery(queries.submission(base)).data, useQuery(queries.submission(other)).data];
  const words = both.map((one) =>
    one ? timingWord({ timing: one.timing_status, shown_interval: one.shown_interval }) : PROVEN,
  );
  return words.every((word) => word === PROVEN)
    ? ""
    : `The timing of the first is ${words[0]}, that of the other ${words[1]}.`;
}

function Speed({ comparison, doubt }: { comparison: Schemas["Comparison"]; doubt: string }) {
  const { verdict, reason, cases } = comparison;
  const unit = unitOf(cases.flatMap(({ base_runtime_ms: base, other_runtime_ms: other }) => [base, other]));
  return (
    <>
      <div class={`verdict ${doubt ? "warn" : comparisonKind(verdict)}`}>
        <strong>{comparisonTitle(verdict)}</strong>
        <p>{reason}</p>
        {doubt ? <p>{doubt} Such times do not rank, and a difference between them may be their machine's.</p> : null}
      </div>
      <Table
        class="cases"
        caption="Times of each case"
        columns={CASE_COLUMNS}
        rows={[
          ...cases.map((one) => cells(one, unit)),
          ["All", "", "", ...speedup(comparison), <Word key="word" word={verdict} />],
        ]}
      />
      <p class="hint">Above 1: the other is faster. The row of all is the geometric mean.</p>
    </>
  );
}

function Word({ word }: { word: string }) {
  return <span class={`badge ${comparisonKind(word)}`}>{comparisonWord(word)}</span>;
}

// A time has no more digits than the comparison leaves.
function cells(one: Schemas["CaseComparison"], unit: TimeUnit) {
  const share = halfOf(one) / one.speedup;
  const { name, base_runtime_ms: base, other_runtime_ms: other, verdict } = one;
  const shown = (ms: number) => inUnit(ms, ms * share, unit);
  return [name, shown(base), shown(other), ...speedup(one), <Word key="word" word={verdict} />];
}

type Speedup = Pick<Schemas["CaseComparison"], "speedup" | "speedup_low" | "speedup_high">;

function speedup(one: Speedup): [string, string] {
  const shown = (value: number) => within(value, halfOf(one) / 10);
  return [within(one.speedup, halfOf(one)), `${shown(one.speedup_low)} to ${shown(one.speedup_high)}`];
}

function halfOf({ speedup_low: low, speedup_high: high }: Speedup): number {
  return (high - low) / 2;
}

function Sources({ base, other }: { base: string; other: string }) {
  const [isOpen, setOpen] = useState(false);
  const [first, second] = [useQuery(queries.submission(base)), useQuery(queries.submission(other))];
  const [one, another] = [first.data?.code, second.data?.code];
  const error = first.error ?? second.error;
  const gone = useGone(base, other);
  return (
    <section class="card" aria-labelledby="diff-heading">
      <div class="card-head">
        <h2 id="diff-heading">Source</h2>
      </div>
      {error ? (
        <p class="empty">{gone || error.message}</p>
      ) : one === undefined || another === undefined ? (
        READING
      ) : one === another ? (
        <p class="empty">Their sources are the same.</p>
      ) : (
        <SourceDiff base={one} other={another} label="source" />
      )}
      <details class="instructions" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>MI300X instructions</summary>
        {isOpen ? <Instructions base={base} other={other} /> : null}
      </details>
    </section>
  );
}

function Instructions({ base, other }: { base: string; other: string }) {
  const [one, another] = [useQuery(queries.isa(base)), useQuery(queries.isa(other))];
  const error = one.error ?? another.error;
  if (error) return <p class="empty">{error.message}</p>;
  if (!one.data || !another.data) return READING;
  if (one.data.listing === another.data.listing) return <p class="empty">Their instructions are the same.</p>;
  return <SourceDiff base={one.data.listing} other={another.data.listing} label="instructions" />;
}

function Choice({ base, other = "" }: { base: string; other?: string }) {
  const { data, error } = useQuery(queries.comparableTo(base));
  const candidates = (data?.submissions ?? []).filter(({ id }) => id !== base && id !== other);
  return (
    <section class="card" aria-labelledby="choice-heading">
      <div class="card-head">
        <h2 id="choice-heading">{other ? "Compare with another" : `Compare ${base} with`}</h2>
      </div>
      {!data && !error ? READING : null}
      {error ? <p class="empty">{error.message}</p> : null}
      {candidates.length ? (
        <Table
          caption="Submissions to compare with"
          columns={CHOICE_COLUMNS}
          rows={candidates.map((one) => [
            <Link key="link" href={compareAddress(base, one.id)}>
              {one.name || one.id}
            </Link>,
            endTitle(one.status ?? "", { timing: one.timing_status, shown_interval: one.shown_interval }),
            ago(one.create_time),
          ])}
        />
      ) : null}
      {data && !candidates.length ? (
        <p class="empty">
          No {other ? "third" : "other"} submission of yours was timed in the same way: same problem, element type, GPU
          and timing.
        </p>
      ) : null}
    </section>
  );
}
