// All problems.

import { useQuery } from "@tanstack/preact-query";
import { Link, useSearchParams } from "wouter-preact";
import { problems as allProblems } from "../gateway/queries";
import { problemAddress } from "../page/addresses";
import { Select } from "../page/select";
import { type Choice, type Column, choiceOf, chosen, difficultiesOf, type Problem, queryOf, sortedBy } from "./choice";

const COLUMNS: [Column, string, string][] = [
  ["title", "Problem", ""],
  ["difficulty", "Difficulty", ""],
  ["dtypes", "Element types", "optional"],
  ["tags", "Tags", "optional"],
];

export default function ProblemList() {
  const { data, error } = useQuery(allProblems);
  const [query, setQuery] = useSearchParams();
  const choice = choiceOf(query);
  const change = (changes: Partial<Choice>) => setQuery(queryOf({ ...choice, ...changes }), { replace: true });
  const problems = data?.problems ?? [];
  const found = chosen([...problems], choice);
  return (
    <main class="page" aria-busy={!data && !error}>
      <div class="page-head">
        <h1>Problems</h1>
        <p class="hint" role="status">
          {data ? `${found.length} of ${problems.length}` : ""}
        </p>
      </div>
      <Filters choice={choice} problems={problems} onChange={change} />
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
            <tbody>{data ? found.map((problem) => <Row key={problem.slug} {...problem} />) : <Shapes />}</tbody>
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

function Row({ slug, title, difficulty, dtypes, tags }: Problem) {
  return (
    <tr>
      <td>
        <Link href={problemAddress(slug)}>{title}</Link>
      </td>
      <td>
        {difficulty ? (
          <span class={`badge difficulty ${difficulty.toLowerCase()}`}>{difficulty.toLowerCase()}</span>
        ) : (
          ""
        )}
      </td>
      <td class="optional mono">{dtypes.join(", ")}</td>
      <td class="optional hint">{tags.join(", ")}</td>
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
        onChange={(difficulty) => onChange({ difficulty })}
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
    </search>
  );
}
