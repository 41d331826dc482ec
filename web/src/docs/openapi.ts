// The parts of an OpenAPI document that the page shows.

export interface Schema {
  $ref?: string;
  type?: string;
  description?: string;
  enum?: unknown[];
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  examples?: unknown[];
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
  tags?: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, Content> };
  responses: Record<string, Answer>;
}

export interface OpenApi {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export function resolved(schema: Schema | undefined, { components }: OpenApi): Schema | undefined {
  const name = schema?.$ref?.split("/").pop();
  return name ? { ...components.schemas[name], ...schema } : schema;
}

export function typeOf(schema: Schema | undefined): string {
  if (!schema) return "";
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.enum) return schema.enum.join(" | ");
  if (schema.type === "array") return `list of ${typeOf(schema.items)}`;
  return schema.$ref?.split("/").pop() ?? schema.type ?? "any";
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
