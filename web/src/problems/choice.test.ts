import { expect, test } from "vitest";
import { choiceOf, chosen, difficultiesOf, type Problem, queryOf, sortedBy } from "./choice";

const UNTRIED = { status: "none", attempts: 0, best_runtime_ms: null, record_runtime_ms: null, users: 0 };

function problem(slug: string, difficulty: string, dtypes: string[], tags: string[], reached = {}): Problem {
  return {
    slug,
    title: slug.replace("-", " "),
    difficulty,
    dtypes,
    tags,
    signature: "",
    ...UNTRIED,
    ...reached,
  } as Problem;
}

const PROBLEMS = [
  problem("softmax", "MEDIUM", ["float32", "float16"], ["reduction"], {
    status: "tried",
    record_runtime_ms: 2,
    users: 4,
  }),
  problem("vector-addition", "EASY", ["float32"], ["elementwise"], {
    status: "solved",
    best_runtime_ms: 3,
    record_runtime_ms: 1,
    users: 9,
  }),
  problem("attention", "HARD", ["float16"], ["reduction", "matmul"]),
  problem("odd", "UNHEARD_OF", ["float32"], [], { status: "unheard-of" }),
];

function slugs(query: string): string[] {
  return chosen([...PROBLEMS], choiceOf(new URLSearchParams(query))).map(({ slug }) => slug);
}

test.each([
  ["", ["attention", "odd", "softmax", "vector-addition"]],
  ["q=VECTOR add", ["vector-addition"]],
  ["q=reduction", ["attention", "softmax"]],
  ["tag=matmul", ["attention"]],
  ["dtype=float16&difficulty=MEDIUM", ["softmax"]],
  ["sort=difficulty", ["vector-addition", "softmax", "attention", "odd"]],
  ["sort=-difficulty", ["odd", "attention", "softmax", "vector-addition"]],
  ["status=none", ["attention"]],
  ["status=solved", ["vector-addition"]],
  ["sort=status", ["attention", "softmax", "vector-addition", "odd"]],
  ["sort=record", ["vector-addition", "softmax", "attention", "odd"]],
  ["sort=-record", ["softmax", "vector-addition", "attention", "odd"]],
  ["sort=-best", ["vector-addition", "attention", "odd", "softmax"]],
  ["sort=-users", ["vector-addition", "softmax", "attention", "odd"]],
  ["sort=nonsense&page=7", ["attention", "odd", "softmax", "vector-addition"]],
])("the address ?%s lists %s", (query, expected) => {
  expect(slugs(query)).toEqual(expected);
});

test("a choice comes back from its address", () => {
  const choice = choiceOf(
    new URLSearchParams("q=a b&difficulty=HARD&tag=t&dtype=float16&status=tried&gpu=cpu&sort=-best"),
  );
  expect(choiceOf(queryOf(choice))).toEqual(choice);
  expect(String(queryOf(choiceOf(new URLSearchParams())))).toBe("");
});

test("the same column twice turns the order", () => {
  const once = sortedBy(choiceOf(new URLSearchParams()), "tags");
  expect([once.isDescending, sortedBy(once, "tags").isDescending]).toEqual([false, true]);
});

test("difficulties are in their order, and words that are not known are last", () => {
  expect(difficultiesOf(PROBLEMS)).toEqual(["EASY", "MEDIUM", "HARD", "UNHEARD_OF"]);
});
