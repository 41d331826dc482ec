// Which problems are listed, and in which order, as the address says.

import type { Schemas } from "../gateway/client";

export type Problem = Schemas["ProblemSummary"];
export type Column = "title" | "difficulty" | "dtypes" | "tags";

export interface Choice {
  search: string;
  difficulty: string;
  tag: string;
  dtype: string;
  sort: Column;
  isDescending: boolean;
}

const SORTS: readonly Column[] = ["title", "difficulty", "dtypes", "tags"];
const DIFFICULTIES = ["EASY", "MEDIUM", "HARD"];

// What the address does not say, or says wrongly, is as if nothing was chosen.
export function choiceOf(query: URLSearchParams): Choice {
  const order = query.get("sort") ?? "";
  const sort = SORTS.find((column) => column === order.replace(/^-/, "")) ?? "title";
  const said = (name: string) => query.get(name) ?? "";
  const isDescending = order.startsWith("-");
  return {
    search: said("q"),
    difficulty: said("difficulty"),
    tag: said("tag"),
    dtype: said("dtype"),
    sort,
    isDescending,
  };
}

export function queryOf({ search, difficulty, tag, dtype, sort, isDescending }: Choice): URLSearchParams {
  const order = sort === "title" && !isDescending ? "" : `${isDescending ? "-" : ""}${sort}`;
  const said = { q: search, difficulty, tag, dtype, sort: order };
  return new URLSearchParams(Object.entries(said).filter(([, value]) => value));
}

export function chosen(problems: Problem[], choice: Choice): Problem[] {
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = problems.filter(
    ({ slug, title, difficulty, tags, dtypes }) =>
      (!choice.difficulty || difficulty.toUpperCase() === choice.difficulty) &&
      (!choice.tag || tags.includes(choice.tag)) &&
      (!choice.dtype || dtypes.includes(choice.dtype)) &&
      words.every((word) => `${slug} ${title} ${tags.join(" ")}`.toLowerCase().includes(word)),
  );
  const sign = choice.isDescending ? -1 : 1;
  return found.sort((one, other) => sign * compared(one, other, choice.sort) || compared(one, other, "title"));
}

// By a click on a column: in its order, and in the other if that is the order already.
export function sortedBy(choice: Choice, sort: Column): Choice {
  return { ...choice, sort, isDescending: choice.sort === sort && !choice.isDescending };
}

export function difficultiesOf(problems: Problem[]): string[] {
  return [...new Set(problems.map(({ difficulty }) => difficulty.toUpperCase()))].filter(Boolean).sort(byDifficulty);
}

function compared(one: Problem, other: Problem, column: Column): number {
  switch (column) {
    case "title":
      return one.title.localeCompare(other.title, "en");
    case "difficulty":
      return byDifficulty(one.difficulty.toUpperCase(), other.difficulty.toUpperCase());
    case "dtypes":
      return one.dtypes.length - other.dtypes.length;
    case "tags":
      return one.tags.join(" ").localeCompare(other.tags.join(" "), "en");
  }
}

// A word that is not known is the hardest.
function byDifficulty(one: string, other: string): number {
  const rank = (word: string) => (DIFFICULTIES.includes(word) ? DIFFICULTIES.indexOf(word) : DIFFICULTIES.length);
  return rank(one) - rank(other) || one.localeCompare(other, "en");
}
