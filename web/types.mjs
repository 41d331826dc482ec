// Writes src/gateway/types.ts, the gateway's OpenAPI document (on standard input) as types.
//
// Refusals are left out, as one class reads them all, and so are descriptions, which the document has.

import { writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import openapiTS, { astToString } from "openapi-typescript";

const document = JSON.parse(await text(process.stdin), (name, value) =>
  name === "description" && typeof value === "string" ? undefined : value,
);
for (const operations of Object.values(document.paths))
  for (const { responses } of Object.values(operations))
    for (const [status, response] of Object.entries(responses)) {
      if (!status.startsWith("2")) delete responses[status];
      delete response.headers;
    }
const types = astToString(await openapiTS(document, { defaultNonNullable: false }));
writeFileSync(
  new URL("src/gateway/types.ts", import.meta.url),
  `// Written by types.mjs from the gateway's OpenAPI document.\n${types}`,
);
