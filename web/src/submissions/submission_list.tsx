// All of this user's submissions.

import { useInfiniteQuery, useQuery } from "@tanstack/preact-query";
import { useState } from "preact/hooks";
import { Link, useSearchParams } from "wouter-preact";
import type { Schemas } from "../gateway/client";
import * as queries from "../gateway/queries";
import { useAction } from "../page/action";
import { submissionAddress } from "../page/addresses";
import { ago, count, dollars } from "../page/format";
import { Select } from "../page/select";
import { Table } from "../page/table";
import { pages } from "../pages";
import { MODES } from "../request/form";
import { modeName } from "../request/words";
import { listedMean } from "../run/case_times";
import { cancel } from "../run/following";
import { Badge } from "../run/history";
import { statusTitle } from "../run/verdicts";
import { ChangeDialog, seenBy } from "./change_dialog";
import {
  addressQueryOf,
  FASTEST,
  type ListChoice,
  listChoiceOf,
  listQueryOf,
  STATUSES,
  UNDER_WAY,
} from "./list_choice";

const STATUS_NAMES = Object.fromEntries([[UNDER_WAY, "Under way"], ...STATUSES.map((one) => [one, statusTitle(one)])]);
const MODE_NAMES = Object.fromEntries(MODES.map((mode) => [mode, modeName(mode)]));

type Submission = Schemas["Submission"];

const COLUMNS = [
  { title: "Chosen" },
  { title: "Submission" },
  { title: "Mode" },
  { title: "On" },
  { title: "Result" },
  { title: "Tests", class: "number" },
  { title: "Time", class: "number" },
  { title: "Cost", class: "number" },
  { title: "When", class: "number" },
  { title: "Who sees it" },
];

export default function SubmissionList() {
  const [query, setQuery] = useSearchParams();
  const choice = listChoiceOf(query);
  const list = useInfiniteQuery(queries.pagesOfSubmissions(listQueryOf(choice)));
  const [chosen, choose] = useState<readonly string[]>([]);
  const [changed, change] = useState<Submission | null>(null);
  const { refusal, act: cancelThem } = useAction(cancelAll);
  const submissions = list.data?.pages.flatMap((page) => page.submissions) ?? [];
  const cancellable = submissions.filter((one) => chosen.includes(one.id) && !one.status);
  return (
    <main class="page">
      <div class="page-head">
        <h1>Submissions</h1>
        <p class="hint" role="status">
          {list.data && submissions.length ? `${count(submissions.length)} of ${totalOf(list.data.pages)}` : ""}
        </p>
        {cancellable.length ? (
          <button
            id="cancel-chosen"
            class="button small danger"
            type="button"
            onClick={() => void cancelThem(cancellable)}
          >
            Cancel {cancellable.length}
          </button>
        ) : null}
        <p class="field-error" role="alert" hidden={!refusal}>
          {refusal}
        </p>
      </div>
      <Filters
        choice={choice}
        onChange={(changes) => setQuery(addressQueryOf({ ...choice, ...changes }), { replace: true })}
      />
      <div class="card">
        {list.data && !submissions.length ? (
          <Nothing isFiltered={query.size > 0} onAll={() => setQuery(new URLSearchParams(), { replace: true })} />
        ) : (
          <Table
            caption="Submissions"
            class="submissions"
            columns={COLUMNS}
            rows={submissions.map((one) =>
              cells(
                one,
                chosen.includes(one.id),
                () => choose(chosen.includes(one.id) ? chosen.filter((id) => id !== one.id) : [...chosen, one.id]),
                () => change(one),
              ),
            )}
          />
        )}
        {list.isPending ? <p class="empty">Reading your submissions…</p> : null}
        {list.hasNextPage ? (
          <button
            id="more"
            class="button"
            type="button"
            disabled={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          >
            Show older ones
          </button>
        ) : null}
      </div>
      <ChangeDialog submission={changed} onClose={() => change(null)} />
    </main>
  );
}

// Only the first page has a total, if it is cheap to say.
function totalOf(pages: Schemas["SubmissionPage"][]): string {
  const total = pages[0]?.total;
  if (typeof total === "number") return count(total);
  const isAll = !pages.at(-1)?.next_page_token;
  return isAll ? count(pages.reduce((sum, page) => sum + page.submissions.length, 0)) : "more than 1,000";
}

async function cancelAll(submissions: readonly Submission[]): Promise<void> {
  const what = submissions.length === 1 ? "this submission" : `these ${submissions.length} submissions`;
  if (!confirm(`Cancel ${what}? You pay for the time that was used.`)) return;
  await Promise.all(submissions.map(({ id }) => cancel(id)));
  await queries.queries.invalidateQueries({ queryKey: queries.SUBMISSIONS });
}

function cells(one: Submission, isChosen: boolean, onChoose: () => void, onChange: () => void) {
  const title = one.problem || one.name || "sandbox program";
  return [
    <input
      key="chosen"
      type="checkbox"
      aria-label={`Choose ${title}, ${one.id}`}
      checked={isChosen}
      disabled={Boolean(one.status)}
      onChange={onChoose}
    />,
    <Link key="link" href={submissionAddress(one.id)}>
      {title}
      {one.problem && one.name ? <span class="hint"> {one.name}</span> : null}
      <span class="visually-hidden">, {one.id}</span>
    </Link>,
    modeName(one.mode),
    one.hardware ?? one.gpu_type,
    <Badge key="badge" {...one} />,
    one.total_tests === null ? "" : `${one.passed_tests ?? 0} of ${one.total_tests}`,
    listedMean(one),
    dollars(one.cost_usd),
    ago(one.create_time),
    <button key="change" type="button" class="link-button" onClick={onChange}>
      {seenBy(one.visibility)}
      <span class="visually-hidden">, change the name or who sees {one.id}</span>
    </button>,
  ];
}

function Filters({ choice, onChange }: { choice: ListChoice; onChange: (changes: Partial<ListChoice>) => void }) {
  const problems = useQuery(queries.problems).data?.problems ?? [];
  const gpuTypes = useQuery(queries.gpuTypes).data ?? [];
  const dtypes = [...new Set(problems.flatMap((one) => one.dtypes))].sort();
  return (
    <search class="filters of-submissions">
      <Select
        name="Problem"
        value={choice.problem}
        options={problems.map(({ slug }) => slug)}
        names={Object.fromEntries(problems.map(({ slug, title }) => [slug, title]))}
        onChange={(problem) => onChange({ problem })}
      />
      <Select
        name="Result"
        value={choice.status}
        options={[UNDER_WAY, ...STATUSES]}
        names={STATUS_NAMES}
        onChange={(status) => onChange({ status })}
      />
      <Select
        name="Mode"
        value={choice.mode}
        options={MODES}
        names={MODE_NAMES}
        onChange={(mode) => onChange({ mode })}
      />
      <Select
        name="GPU"
        value={choice.gpu}
        options={[...gpuTypes, queries.CPU]}
        names={{ [queries.CPU]: "CPU" }}
        onChange={(gpu) => onChange({ gpu })}
      />
      <Select name="Element type" value={choice.dtype} options={dtypes} onChange={(dtype) => onChange({ dtype })} />
      {choice.problem ? (
        <Select
          name="Order"
          value={choice.sort}
          options={[FASTEST]}
          names={{ [FASTEST]: "Fastest first" }}
          anyway="Newest first"
          onChange={(sort) => onChange({ sort })}
        />
      ) : null}
    </search>
  );
}

function Nothing({ isFiltered, onAll }: { isFiltered: boolean; onAll: () => void }) {
  return isFiltered ? (
    <p class="empty">
      No submission is like that.{" "}
      <button type="button" class="link-button" onClick={onAll}>
        Show all
      </button>
    </p>
  ) : (
    <p class="empty">
      You have submitted nothing yet. <Link href={pages.problems}>Choose a problem</Link>, write its kernel, and press
      Submit.
    </p>
  );
}
