// Shows the OpenAPI document as a page, with nothing from other hosts.

import { useQuery } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { Inline } from "../page/markdown";
import { Table } from "../page/table";
import {
  type Answer,
  curl,
  type OpenApi,
  type Operation,
  type Parameter,
  resolved,
  type Schema,
  typeOf,
} from "./openapi";

interface Route {
  path: string;
  method: string;
  operation: Operation;
}

export default function Documentation() {
  const { data: api } = useQuery({
    queryKey: ["openapi"],
    queryFn: async (): Promise<OpenApi> => (await fetch("/api/openapi.json")).json(),
  });
  if (!api)
    return (
      <main class="docs">
        <p class="empty">Reading the OpenAPI document…</p>
      </main>
    );
  const { title, version, description } = api.info;
  return (
    <main class="docs">
      <h1>
        {title} API {version}
      </h1>
      <p class="intro">
        <Inline text={description} /> <a href="/api/openapi.json">OpenAPI document</a>
      </p>
      {[...byTag(api)].map(([tag, routes]) => (
        <section key={tag}>
          <h2>{tag}</h2>
          {routes.map((route) => (
            <Card key={`${route.method} ${route.path}`} {...route} api={api} />
          ))}
        </section>
      ))}
    </main>
  );
}

function byTag({ paths }: OpenApi): Map<string, Route[]> {
  const found = new Map<string, Route[]>();
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      const tag = operation.tags?.[0] ?? "other";
      found.set(tag, [...(found.get(tag) ?? []), { path, method, operation }]);
    }
  return found;
}

function Card({ path, method, operation, api }: Route & { api: OpenApi }) {
  const body = resolved(operation.requestBody?.content?.["application/json"]?.schema, api);
  const [example] = body?.examples ?? [];
  return (
    <details class="card operation">
      <summary>
        <span class={`method ${method}`}>{method.toUpperCase()}</span>
        <span class="path">{path}</span>
        <span class="summary-text">{operation.summary}</span>
      </summary>
      <div class="body">
        <p>
          <Inline text={operation.description ?? ""} />
        </p>
        {operation.parameters?.length ? <Parameters list={operation.parameters} /> : null}
        {body ? <Fields title="Body" schema={body} api={api} /> : null}
        {example ? (
          <section>
            <h3>Example</h3>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: people scroll it with the keyboard */}
            <pre tabIndex={0}>{curl(method, path, example)}</pre>
          </section>
        ) : null}
        <section>
          <h3>Answers</h3>
          {Object.entries(operation.responses).map(([status, answer]) => (
            <AnswerPart key={status} status={status} answer={answer} api={api} />
          ))}
        </section>
      </div>
    </details>
  );
}

function Titled({ title, columns, rows }: { title: string; columns: string[]; rows: ComponentChildren[][] }) {
  return (
    <section>
      <h3>{title}</h3>
      <Table caption={title} columns={columns.map((column) => ({ title: column }))} rows={rows} />
    </section>
  );
}

function Parameters({ list }: { list: Parameter[] }) {
  const rows = list.map(({ name, in: place, schema, description }) => [
    <code key="name">{name}</code>,
    place,
    typeOf(schema),
    <Inline key="text" text={description ?? schema.description ?? ""} />,
  ]);
  return <Titled title="Parameters" columns={["Parameter", "In", "Type", "Meaning"]} rows={rows} />;
}

function Fields({ title, schema, api }: { title: string; schema: Schema; api: OpenApi }) {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => [
    <code key="name">{name}</code>,
    typeOf(field),
    <Inline
      key="text"
      text={(schema.required?.includes(name) ? "required. " : "") + (resolved(field, api)?.description ?? "")}
    />,
  ]);
  return rows.length ? <Titled title={title} columns={["Field", "Type", "Meaning"]} rows={rows} /> : null;
}

function AnswerPart({ status, answer, api }: { status: string; answer: Answer; api: OpenApi }) {
  const [kind, content] = Object.entries(answer.content ?? {})[0] ?? ["", {}];
  const schema = kind === "application/json" ? resolved(content.schema, api) : undefined;
  return (
    <>
      <p>
        <strong>{status} </strong>
        <Inline text={answer.description} />
        {kind ? <code> {kind}</code> : null}
      </p>
      {schema ? <Fields title="Answer" schema={schema} api={api} /> : null}
    </>
  );
}
