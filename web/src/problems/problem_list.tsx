// All problems.

import { useQuery } from "@tanstack/preact-query";
import { Link, useSearchParams } from "wouter-preact";
import type { Schemas } from "../gateway/client";
import { CPU, gpuTypes, reachedIn } from "../gateway/queries";
import { problemAddress } from "../page/addresses";
import { hasToken } from "../page/alert";
import { count, listed } from "../page/format";
import { Select } from "../page/select";
import { CPU_NAMES } from "../request/words";
import {
  type Choice,
  type Column,
  choiceOf,
  chosen,
  difficultiesOf,
  difficultyName,
  type Problem,
  queryOf,
  STATUSES,
  sortedBy,
} from "./choice";

const STATUS_NAMES: Record<string, string> = { none: "Not tried", tried: "Tried", solved: "Solved" };
const STATUS_CLASSES: Record<string, string> = { tried: "warn", solved: "good" };

const COLUMNS: [Column, string, string][] = [
  ["title", "Problem", ""],
  ["difficulty", "Difficulty", ""],
  ["status", "Status", ""],
  ["best", "My best", "number"],
  ["record", "Record", "number"],
  ["users", "Solved by", "number"],
  ["dtypes", "Element types", ""],
  ["tags", "Tags", ""],
];

export default function ProblemList() {
  const [query, setQuery] = useSearchParams();
  const choice = choiceOf(query);
  const { data, error } = useQuery(reachedIn(choice.gpuType, choice.dtype));
  const change = (changes: Partial<Choice>) => setQuery(queryOf({ ...choice, ...changes }), { replace: true });
  const problems = data?.problems ?? [];
  const found = chosen([...problems], choice);
  return (
    <main class="page" aria-busy={!data && !error}>
      <div class="page-head">
        <h1>Problems</h1>
        <p class="hint" role="status">
          {data ? `${found.length} of ${data.total}` : ""}
        </p>
      </div>
      <Filters choice={choice} problems={problems} onChange={change} />
      <p class="hint" id="times">
        {data ? timesOf(data) : ""}
      </p>
      <div class="card table-scroll">
        {data && !found.length ? (
          <p class="empty">
            No problem is like that.{" "}
            <button
              type="button"
              class="link-button"
              onClick={() => setQuery(new URLSearchParams(), { replace: true })}
            >
              Show all
            </button>
          </p>
        ) : (
          <table class="problems">
            <caption class="visually-hidden">Problems</caption>
            <thead>
              <tr>
                {COLUMNS.map(([column, title, kind]) => (
                  <th scope="col" class={kind} key={column} aria-sort={sortOf(choice, column)}>
                    <button type="button" class="sort-button" onClick={() => change(sortedBy(choice, column))}>
                      {title}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {data ? (
                found.map((problem) => <Row key={problem.slug} problem={problem} isRanked={data.gpu_type !== CPU} />)
              ) : (
                <Shapes />
              )}
            </tbody>
          </table>
        )}
      </div>
    </main>
  );
}

function sortOf({ sort, isDescending }: Choice, column: Column) {
  if (sort !== column) return undefined;
  return isDescending ? "descending" : "ascending";
}

// Of whatever was asked for, as the gateway understood it.
function timesOf({ dtype, gpu_type: gpuType, timing_mode: mode }: Schemas["ProblemList"]): string {
  const unranked = gpuType === CPU ? " These do not rank: they say nothing about a GPU." : "";
  return `Times: ${[dtype, gpuType, mode].filter(Boolean).join(", ")}.${unranked}`;
}

function Status({ status, attempts }: Problem) {
  if (status === "none") return null;
  return (
    <span class={`badge ${STATUS_CLASSES[status] ?? ""}`} title={`${count(attempts)} of your submissions`}>
      {STATUS_NAMES[status] ?? status}
    </span>
  );
}

function Row({ problem, isRanked }: { problem: Problem; isRanked: boolean }) {
  const { slug, title, difficulty, dtypes, tags } = problem;
  return (
    <tr>
      <td>
        <Link href={problemAddress(slug)}>{title}</Link>
      </td>
      <td>
        {difficulty ? (
          <span class={`badge difficulty ${difficulty.toLowerCase()}`}>{difficultyName(difficulty)}</span>
        ) : (
          ""
        )}
      </td>
      <td>
        <Status {...problem} />
      </td>
      <td class="number">{listed(problem.best_runtime_ms, isRanked, problem.best_runtime_interval)}</td>
      <td class="number">{listed(problem.record_runtime_ms, isRanked, problem.record_runtime_interval)}</td>
      <td class="number">{count(problem.users)}</td>
      <td class="mono">{dtypes.join(", ")}</td>
      <td class="hint">{tags.join(", ")}</td>
    </tr>
  );
}

// The shape of what is being loaded.
function Shapes() {
  return Array.from({ length: 12 }, (_, at) => (
    <tr key={at}>
      {COLUMNS.map(([column, , kind]) => (
        <td key={column} class={kind}>
          <span class="shape" />
        </td>
      ))}
    </tr>
  ));
}

function Filters({
  choice,
  problems,
  onChange,
}: {
  choice: Choice;
  problems: Problem[];
  onChange: (changes: Partial<Choice>) => void;
}) {
  const all = (values: string[][]) => [...new Set(values.flat())].sort();
  const [defaultGpu, ...otherGpus] = useQuery({ ...gpuTypes, enabled: hasToken.value }).data ?? [];
  return (
    <search class="filters">
      <label>
        <span class="field-label">Search</span>
        <input
          id="search"
          type="search"
          value={choice.search}
          aria-keyshortcuts="/"
          placeholder="softmax, reduction, …"
          onInput={({ currentTarget }) => onChange({ search: currentTarget.value })}
        />
      </label>
      <Select
        name="Difficulty"
        value={choice.difficulty}
        options={difficultiesOf(problems)}
        names={Object.fromEntries(difficultiesOf(problems).map((one) => [one, difficultyName(one)]))}
        onChange={(difficulty) => onChange({ difficulty })}
      />
      <Select
        name="Status"
        value={choice.status}
        options={STATUSES}
        names={STATUS_NAMES}
        onChange={(status) => onChange({ status })}
      />
      <Select
        name="Tag"
        value={choice.tag}
        options={all(problems.map(({ tags }) => tags))}
        onChange={(tag) => onChange({ tag })}
      />
      <Select
        name="Element type"
        value={choice.dtype}
        options={all(problems.map(({ dtypes }) => dtypes))}
        onChange={(dtype) => onChange({ dtype })}
      />
      <Select
        name="GPU"
        value={choice.gpuType}
        options={[...otherGpus, CPU]}
        names={CPU_NAMES}
        anyway={defaultGpu ?? "Default"}
        onChange={(gpuType) => onChange({ gpuType })}
      />
    </search>
  );
}
