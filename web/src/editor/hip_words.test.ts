import { expect, test } from "vitest";
import { distinct, HIP_WORDS, parametersOf, wordsOfProblem } from "./hip_words";

test("parameters of a signature have their types", () => {
  expect(parametersOf("const float* a, float *b, const __half& c, size_t n")).toEqual([
    { name: "a", type: "const float*" },
    { name: "b", type: "float *" },
    { name: "c", type: "const __half&" },
    { name: "n", type: "size_t" },
  ]);
  expect(parametersOf("")).toEqual([]);
});

test("a problem offers its function with its parameters", () => {
  expect(wordsOfProblem("float* a, size_t n").map(({ label }) => label)).toEqual(["a", "n", "solution"]);
  expect(wordsOfProblem("")).toEqual([]);
});

test("every word of HIP is there once", () => {
  const labels = HIP_WORDS.map(({ label }) => label);
  expect(new Set(labels).size).toBe(labels.length);
  expect(labels).toEqual(
    expect.arrayContaining(["threadIdx", "__syncthreads", "__shfl_down", "hipError_t", "atomicAdd"]),
  );
  expect(labels.every((label) => /^[\w<]+$/.test(label))).toBe(true);
});

test("of two words with one name the first is offered", () => {
  const [word] = distinct([{ label: "n", detail: "size_t" }], [{ label: "n" }]);
  expect(word?.detail).toBe("size_t");
});
