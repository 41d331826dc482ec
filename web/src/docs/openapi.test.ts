import { expect, test } from "vitest";
import { type OpenApi, routesByTag, type Schema, schemasFound, typeParts } from "./openapi";

const texts = (schema: Schema) =>
  typeParts(schema)
    .map(({ text, isName }) => (isName ? `<${text}>` : text))
    .join("");

test("a type is told in words, with the names of schemas to follow", () => {
  const job = { $ref: "#/components/schemas/Job" };
  expect(texts({ type: "array", items: job })).toBe("list of <Job>");
  expect(texts({ anyOf: [job, { type: "null" }] })).toBe("<Job> or null");
  expect(texts({ type: "object", additionalProperties: job })).toBe("object of <Job>");
  expect(texts({ type: "string", contentSchema: job })).toBe("JSON: <Job>");
  expect(texts({ const: "VALID" })).toBe('"VALID"');
  expect(texts({ enum: ["hot", "cold"] })).toBe('"hot" | "cold"');
  expect(texts({})).toBe("any");
});

test("a search finds routes by path, words and rights, and schemas by their fields", () => {
  const operation = {
    operationId: "stop_machine",
    summary: "Stop",
    tags: ["machines"],
    responses: {},
    "x-role": ["operator"],
  };
  const api: OpenApi = {
    info: { title: "", version: "", description: "" },
    paths: { "/machines/{id}/stop": { post: operation }, "/me": { get: { ...operation, tags: [], "x-role": [] } } },
    components: { schemas: { Machine: { properties: { idle_seconds: {} } }, Me: {} } },
  };
  expect([...routesByTag(api, "POST operator").keys()]).toEqual(["machines"]);
  expect([...routesByTag(api, "").keys()]).toEqual(["machines", "other"]);
  expect(routesByTag(api, "nowhere").size).toBe(0);
  expect(schemasFound(api, "idle")).toEqual(["Machine"]);
});
