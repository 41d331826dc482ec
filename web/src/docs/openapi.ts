// The parts of an OpenAPI document that the page shows; pure.

export interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  description?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  examples?: unknown[];
  // Of a stream's data: what the text is.
  contentSchema?: Schema;
}

interface Content {
  schema?: Schema;
}

export interface Parameter {
  name: string;
  in: string;
  schema: Schema;
  description?: string;
}

export interface Answer {
  description: string;
  content?: Record<string, Content>;
}

export interface Operation {
  operationId: string;
  tags?: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, Content> };
  responses: Record<string, Answer>;
  "x-scope"?: string[];
  "x-role"?: string[];
}

export interface Route {
  path: string;
  method: string;
  operation: Operation;
}

export interface OpenApi {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export function resolved(schema: Schema | undefined, { components }: OpenApi): Schema | undefined {
  const name = nameOf(schema);
  return name ? { ...components.schemas[name], ...schema } : schema;
}

// A type as words and names of schemas, in turn: a name has a schema of its own to lead to.
export function typeParts(schema: Schema | undefined): { text: string; isName: boolean }[] {
  if (!schema) return [];
  const name = nameOf(schema);
  if (name) return [{ text: name, isName: true }];
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives) return alternatives.flatMap((one, at) => [...(at ? [word(" or ")] : []), ...typeParts(one)]);
  if (schema.const !== undefined) return [word(JSON.stringify(schema.const))];
  if (schema.enum) return [word(schema.enum.map((one) => JSON.stringify(one)).join(" | "))];
  if (schema.contentSchema) return [word("JSON: "), ...typeParts(schema.contentSchema)];
  if (schema.type === "array") return [word("list of "), ...typeParts(schema.items)];
  if (typeof schema.additionalProperties === "object")
    return [word("object of "), ...typeParts(schema.additionalProperties)];
  return [word(schema.type ?? "any")];
}

// The routes that have all words of a search, by tag.
export function routesByTag({ paths }: OpenApi, search: string): Map<string, Route[]> {
  const found = new Map<string, Route[]>();
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      const { operationId, summary, description = "", tags } = operation;
      const rights = [...(operation["x-scope"] ?? []), ...(operation["x-role"] ?? [])];
      const text = [method, path, operationId, summary, description, ...(tags ?? []), ...rights].join(" ");
      if (!hasWords(text, search)) continue;
      const tag = tags?.[0] ?? "other";
      found.set(tag, [...(found.get(tag) ?? []), { path, method, operation }]);
    }
  return found;
}

// The names of schemas that have all words of a search in their name, description or fields.
export function schemasFound({ components }: OpenApi, search: string): string[] {
  return Object.entries(components.schemas)
    .filter(([name, { description = "", properties = {} }]) =>
      hasWords([name, description, ...Object.keys(properties)].join(" "), search),
    )
    .map(([name]) => name)
    .sort();
}

export function curl(method: string, path: string, body: unknown): string {
  const text = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return [
    `curl -X ${method.toUpperCase()} ${location.origin}${path}`,
    '-H "Authorization: Bearer $WAVEPOOL_TOKEN"',
    '-H "Content-Type: application/json"',
    `-d '${text}'`,
  ].join(" \\\n  ");
}

function nameOf(schema: Schema | undefined): string | undefined {
  return schema?.$ref?.split("/").pop();
}

function word(text: string) {
  return { text, isName: false };
}

function hasWords(text: string, search: string): boolean {
  const lower = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((one) => lower.includes(one));
}
