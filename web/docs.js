// Shows the OpenAPI document as a page, with nothing from other hosts.

import { byId, element, table } from "./page/dom.js";
import { inline } from "./page/markdown.js";
import { applyTheme } from "./page/theme.js";

applyTheme();
const response = await fetch("/api/openapi.json");
const document_ = await response.json();
byId("docs").replaceChildren(...shown(document_));

function shown({ info, paths, components }) {
  const byTag = new Map();
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      const tag = operation.tags?.[0] ?? "other";
      byTag.set(tag, [...(byTag.get(tag) ?? []), { path, method, operation }]);
    }
  const sections = [...byTag].map(([tag, operations]) =>
    element("section", {}, element("h2", {}, tag), ...operations.map((one) => operationCard(one, components.schemas))),
  );
  return [
    element("h1", {}, `${info.title} API ${info.version}`),
    element("p", { className: "intro" }, ...inline(info.description)),
    ...sections,
  ];
}

function operationCard({ path, method, operation }, schemas) {
  const body = resolved(operation.requestBody?.content?.["application/json"]?.schema, schemas);
  return element(
    "details",
    { className: "card operation" },
    element(
      "summary",
      {},
      element("span", { className: `method ${method}` }, method.toUpperCase()),
      element("span", { className: "path" }, path),
      element("span", { className: "summary-text" }, operation.summary),
    ),
    element(
      "div",
      { className: "body" },
      element("p", {}, ...inline(operation.description ?? "")),
      operation.parameters?.length ? parameters(operation.parameters) : null,
      body ? fields("Body", body, schemas) : null,
      body?.examples
        ? element(
            "section",
            {},
            element("h3", {}, "Example"),
            element("pre", { tabindex: 0 }, curl(method, path, body.examples[0])),
          )
        : null,
      responses(operation.responses, schemas),
    ),
  );
}

function parameters(list) {
  const columns = [{ title: "Parameter" }, { title: "In" }, { title: "Type" }, { title: "" }];
  const rows = list.map((one) => [
    element("code", {}, one.name),
    one.in,
    typeOf(one.schema),
    element("span", {}, ...inline(one.description ?? one.schema.description ?? "")),
  ]);
  return element(
    "section",
    {},
    element("h3", {}, "Parameters"),
    element("div", { className: "table-scroll" }, table("Parameters", columns, rows)),
  );
}

function fields(title, schema, schemas) {
  const columns = [{ title: "Field" }, { title: "Type" }, { title: "" }];
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const needed = schema.required?.includes(name) ? "required. " : "";
    return [
      element("code", {}, name),
      typeOf(field),
      element("span", {}, ...inline(needed + (resolved(field, schemas)?.description ?? ""))),
    ];
  });
  if (!rows.length) return null;
  return element(
    "section",
    {},
    element("h3", {}, title),
    element("div", { className: "table-scroll" }, table(title, columns, rows)),
  );
}

function responses(answers, schemas) {
  const parts = Object.entries(answers).flatMap(([status, answer]) => {
    const [kind, content] = Object.entries(answer.content ?? {})[0] ?? ["", {}];
    const schema = kind === "application/json" ? resolved(content.schema, schemas) : null;
    const line = element(
      "p",
      {},
      element("strong", {}, `${status} `),
      ...inline(answer.description),
      kind ? element("code", {}, ` ${kind}`) : null,
    );
    return [line, schema ? fields("Answer", schema, schemas) : null];
  });
  return element("section", {}, element("h3", {}, "Answers"), ...parts);
}

function resolved(schema, schemas) {
  const name = schema?.$ref?.split("/").pop();
  return name ? { ...schemas[name], ...schema } : schema;
}

function typeOf(schema) {
  if (!schema) return "";
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  return schema.$ref ? schema.$ref.split("/").pop() : (schema.type ?? "any");
}

function curl(method, path, body) {
  const text = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return [
    `curl -X ${method.toUpperCase()} ${location.origin}${path}`,
    '-H "Authorization: Bearer $WAVEPOOL_TOKEN"',
    '-H "Content-Type: application/json"',
    `-d '${text}'`,
  ].join(" \\\n  ");
}
