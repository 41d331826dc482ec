// Which problems are listed, and in which order, as the address says.

import type { Schemas } from "../gateway/client";

export type Problem = Schemas["ListedProblem"];
export type Column = "title" | "difficulty" | "status" | "best" | "record" | "users" | "dtypes" | "tags";

export interface Choice {
  search: string;
  difficulty: string;
  tag: string;
  dtype: string;
  status: string;
  // Of the times; the default one if it is empty.
  gpuType: string;
  sort: Column;
  isDescending: boolean;
}

const SORTS: readonly Column[] = ["title", "difficulty", "status", "best", "record", "users", "dtypes", "tags"];
const DIFFICULTIES = ["EASY", "MEDIUM", "HARD"];
export const STATUSES = ["none", "tried", "solved"];

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
    status: said("status"),
    gpuType: said("gpu"),
    sort,
    isDescending,
  };
}

export function queryOf({ search, sort, isDescending, gpuType, ...filters }: Choice): URLSearchParams {
  const order = sort === "title" && !isDescending ? "" : `${isDescending ? "-" : ""}${sort}`;
  const said = { q: search, ...filters, gpu: gpuType, sort: order };
  return new URLSearchParams(Object.entries(said).filter(([, value]) => value));
}

export function chosen(problems: Problem[], choice: Choice): Problem[] {
  const words = choice.search.toLowerCase().split(/\s+/).filter(Boolean);
  const found = problems.filter(
    ({ slug, title, difficulty, tags, dtypes, status }) =>
      (!choice.difficulty || difficulty.toUpperCase() === choice.difficulty) &&
      (!choice.tag || tags.includes(choice.tag)) &&
      (!choice.dtype || dtypes.includes(choice.dtype)) &&
      (!choice.status || status === choice.status) &&
      words.every((word) => `${slug} ${title} ${tags.join(" ")}`.toLowerCase().includes(word)),
  );
  const sign = choice.isDescending ? -1 : 1;
  return found.sort(
    (one, other) =>
      withoutTimeLast(one, other, choice.sort) ||
      sign * compared(one, other, choice.sort) ||
      compared(one, other, "title"),
  );
}

// By a click on a column: in its order, and in the other if that is the order already.
export function sortedBy(choice: Choice, sort: Column): Choice {
  return { ...choice, sort, isDescending: choice.sort === sort && !choice.isDescending };
}

export function difficultiesOf(problems: Problem[]): string[] {
  return [...new Set(problems.map(({ difficulty }) => difficulty.toUpperCase()))].filter(Boolean).sort(byDifficulty);
}

export function difficultyName(difficulty: string): string {
  return difficulty.slice(0, 1).toUpperCase() + difficulty.slice(1).toLowerCase();
}

function compared(one: Problem, other: Problem, column: Column): number {
  switch (column) {
    case "title":
      return one.title.localeCompare(other.title, "en");
    case "difficulty":
      return byDifficulty(one.difficulty.toUpperCase(), other.difficulty.toUpperCase());
    case "status":
      return byRank(STATUSES, one.status, other.status);
    case "best":
    case "record":
      return (timeOf(one, column) ?? 0) - (timeOf(other, column) ?? 0);
    case "users":
      return one.users - other.users;
    case "dtypes":
      return one.dtypes.length - other.dtypes.length;
    case "tags":
      return one.tags.join(" ").localeCompare(other.tags.join(" "), "en");
  }
}

function timeOf(problem: Problem, column: Column): number | null {
  if (column === "best") return problem.best_runtime_ms;
  return column === "record" ? problem.record_runtime_ms : 0;
}

// In either order of times.
function withoutTimeLast(one: Problem, other: Problem, column: Column): number {
  return Number(timeOf(one, column) === null) - Number(timeOf(other, column) === null);
}

function byDifficulty(one: string, other: string): number {
  return byRank(DIFFICULTIES, one, other);
}

// A word that is not known is after those that are.
function byRank(words: string[], one: string, other: string): number {
  const rank = (word: string) => (words.includes(word) ? words.indexOf(word) : words.length);
  return rank(one) - rank(other) || one.localeCompare(other, "en");
}
