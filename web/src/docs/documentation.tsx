// Shows the OpenAPI document as a page, with nothing from other hosts.

import { useQuery } from "@tanstack/preact-query";
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useSearchParams } from "wouter-preact";
import { Inline } from "../page/markdown";
import { Table } from "../page/table";
import { pages } from "../pages";
import {
  type Answer,
  curl,
  type OpenApi,
  type Operation,
  type Parameter,
  type Route,
  resolved,
  routesByTag,
  type Schema,
  schemasFound,
  typeParts,
} from "./openapi";

const STREAM = "text/event-stream";

export default function Documentation() {
  const [query, setQuery] = useSearchParams();
  const search = query.get("q") ?? "";
  const { data: api } = useQuery({
    queryKey: ["openapi"],
    queryFn: async (): Promise<OpenApi> => (await fetch("/api/openapi.json")).json(),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!api)
    return (
      <main class="docs">
        <p class="empty">Reading the OpenAPI document…</p>
      </main>
    );
  const { title, version, description } = api.info;
  const routes = [...routesByTag(api, search)];
  const schemas = schemasFound(api, search);
  return (
    <main class="docs">
      <h1>
        {title} API {version}
      </h1>
      <p class="intro">
        <Inline text={description} /> <a href="/api/openapi.json">OpenAPI document</a>
      </p>
      <search class="docs-search">
        <label>
          <span class="field-label">Search</span>
          <input
            id="search"
            type="search"
            value={search}
            aria-keyshortcuts="/"
            placeholder="submissions, operator, runtime_ms, …"
            onInput={({ currentTarget: { value } }) => setQuery(value ? { q: value } : {}, { replace: true })}
          />
        </label>
      </search>
      {routes.map(([tag, ofTag]) => (
        <section key={tag}>
          <h2>{tag}</h2>
          {ofTag.map((route) => (
            <Card key={route.operation.operationId} {...route} api={api} />
          ))}
        </section>
      ))}
      {schemas.length ? (
        <section>
          <h2>Schemas</h2>
          {schemas.map((name) => (
            <SchemaCard key={name} name={name} api={api} />
          ))}
        </section>
      ) : null}
      {routes.length || schemas.length ? null : <p class="empty">Nothing has all of these words.</p>}
    </main>
  );
}

// A part that opens, by itself if the address names it. What is in it is made when it is opened.
function Part({ id, head, children }: { id: string; head: ComponentChildren; children: () => ComponentChildren }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    function arrive(): void {
      if (location.hash !== `#${id}`) return;
      setOpen(true);
      document.getElementById(id)?.scrollIntoView();
    }
    arrive();
    addEventListener("hashchange", arrive);
    return () => removeEventListener("hashchange", arrive);
  }, [id]);
  return (
    <details id={id} class="card operation" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{head}</summary>
      {isOpen ? <div class="body">{children()}</div> : null}
    </details>
  );
}

function Card({ path, method, operation, api }: Route & { api: OpenApi }) {
  const head = (
    <>
      <span class={`method ${method}`}>{method.toUpperCase()}</span>
      <span class="path">{path}</span>
      <span class="summary-text">{operation.summary}</span>
    </>
  );
  return (
    <Part id={operation.operationId} head={head}>
      {() => <OperationBody path={path} method={method} operation={operation} api={api} />}
    </Part>
  );
}

function OperationBody({ path, method, operation, api }: Route & { api: OpenApi }) {
  const body = operation.requestBody?.content?.["application/json"]?.schema;
  const [example] = resolved(body, api)?.examples ?? [];
  return (
    <>
      <Rights {...operation} />
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
    </>
  );
}

function Rights({ "x-scope": scopes, "x-role": roles }: Operation) {
  if (!scopes?.length) return null;
  return (
    <p class="rights">
      <span class="badge">scope {scopes.join(" or ")}</span>{" "}
      {roles?.length ? <span class="badge">role {roles.join(" or ")}</span> : null}
    </p>
  );
}

function SchemaCard({ name, api }: { name: string; api: OpenApi }) {
  const schema = api.components.schemas[name] ?? {};
  return (
    <Part id={`schema-${name}`} head={<span class="path">{name}</span>}>
      {() => (
        <>
          <p>
            <Inline text={schema.description ?? ""} />
          </p>
          {schema.properties ? (
            <Fields title="Fields" schema={schema} api={api} />
          ) : (
            <p>
              <Type schema={schema} />
            </p>
          )}
        </>
      )}
    </Part>
  );
}

// A link leaves a search, which may not have found the schema.
function Type({ schema }: { schema: Schema | undefined }) {
  return (
    <>
      {typeParts(schema).map(({ text, isName }) =>
        isName ? (
          <a href={`${pages.documentation}#schema-${text}`} key={text}>
            {text}
          </a>
        ) : (
          text
        ),
      )}
    </>
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
    <Type key="type" schema={schema} />,
    <Inline key="text" text={description ?? schema.description ?? ""} />,
  ]);
  return <Titled title="Parameters" columns={["Parameter", "In", "Type", "Meaning"]} rows={rows} />;
}

function Fields({ title, schema, api }: { title: string; schema: Schema; api: OpenApi }) {
  const { properties = {}, required } = resolved(schema, api) ?? {};
  const rows = Object.entries(properties).map(([name, field]) => [
    <code key="name">{name}</code>,
    <Type key="type" schema={field} />,
    <Inline
      key="text"
      text={(required?.includes(name) ? "required. " : "") + (resolved(field, api)?.description ?? "")}
    />,
  ]);
  return rows.length ? <Titled title={title} columns={["Field", "Type", "Meaning"]} rows={rows} /> : null;
}

function AnswerPart({ status, answer, api }: { status: string; answer: Answer; api: OpenApi }) {
  const [kind, content] = Object.entries(answer.content ?? {})[0] ?? ["", {}];
  return (
    <>
      <p>
        <strong>{status} </strong>
        <Inline text={answer.description} />
        {kind ? <code> {kind}</code> : null} {content.schema?.$ref ? <Type schema={content.schema} /> : null}
      </p>
      {kind === "application/json" && content.schema ? (
        <Fields title="Answer" schema={content.schema} api={api} />
      ) : null}
      {kind === STREAM ? <Frames schema={content.schema?.properties?.data?.contentSchema} api={api} /> : null}
    </>
  );
}

// The schemas that one stands for, however deep they are.
function alternatives(schema: Schema | undefined, api: OpenApi): Schema[] {
  const inner = resolved(schema, api)?.anyOf;
  if (inner) return inner.flatMap((one) => alternatives(one, api));
  return schema ? [schema] : [];
}

// What a stream may bring: each frame is one of these.
function Frames({ schema, api }: { schema: Schema | undefined; api: OpenApi }) {
  const frames = alternatives(schema, api);
  const rows = frames.map((frame) => {
    const whole = resolved(frame, api);
    return [
      <Type key="type" schema={frame} />,
      <code key="status">{String(whole?.properties?.status?.const ?? "")}</code>,
      <Inline key="text" text={whole?.description ?? ""} />,
    ];
  });
  return rows.length ? <Titled title="Frames" columns={["Frame", "Status", "Meaning"]} rows={rows} /> : null;
}
