// The instructions of a submission and the lines of its source that they are from, linked both ways; pure.

export type RowKind = "kernel" | "label" | "source" | "instruction" | "note" | "empty";

export interface Row {
  kind: RowKind;
  text: string;
  // The line of the source, from 1; 0: none.
  line: number;
}

export interface Listing {
  rows: Row[];
  // The rows of each line's instructions, in order.
  rowsOf: ReadonlyMap<number, readonly number[]>;
}

const SOURCE = /^ {2}; (\d+): ?(.*)$/;
const LOCAL_LABEL = /^\.[\w$.]+:$/;

// Of `GET /submissions/{id}/isa`: below the name of each kernel its instructions, each group below its source line.
export function listingOf(text: string): Listing {
  const rows: Row[] = [];
  const rowsOf = new Map<number, number[]>();
  let line = 0;
  for (const one of text.replace(/\n$/, "").split("\n")) {
    const row = rowOf(one, line);
    line = row.kind === "kernel" ? 0 : row.line || line;
    if (row.kind === "instruction" && row.line) {
      const known = rowsOf.get(row.line);
      if (known) known.push(rows.length);
      else rowsOf.set(row.line, [rows.length]);
    }
    rows.push(row);
  }
  return { rows: text ? rows : [], rowsOf };
}

function rowOf(text: string, line: number): Row {
  const source = text.match(SOURCE);
  if (source) return { kind: "source", text: source[2] ?? "", line: Number(source[1]) };
  if (text.startsWith(" ")) return { kind: "instruction", text: text.trim(), line };
  if (!text) return { kind: "empty", text, line: 0 };
  if (text.startsWith(";")) return { kind: "note", text: text.slice(1).trim(), line: 0 };
  if (LOCAL_LABEL.test(text)) return { kind: "label", text, line };
  return { kind: "kernel", text: text.replace(/:$/, ""), line: 0 };
}

// The rows beside the source: all but the source lines, which stand in the source itself. Their numbers stay.
export function withoutSource({ rows }: Listing): number[] {
  return rows.flatMap(({ kind }, at) => (kind === "source" ? [] : [at]));
}

// The row of a line that is nearest to the one that is shown; -1 if the line has no instruction.
export function nearestRow({ rowsOf }: Listing, line: number, from: number): number {
  const rows = rowsOf.get(line) ?? [];
  return rows.reduce((best, row) => (best < 0 || Math.abs(row - from) < Math.abs(best - from) ? row : best), -1);
}

// The first row after `from` that has the words, then from the start; -1 if none has.
export function found(rows: readonly { text: string }[], words: string, from: number): number {
  const wanted = words.trim().toLowerCase();
  if (!wanted) return -1;
  for (let step = 1; step <= rows.length; step++) {
    const at = (from + step + rows.length) % rows.length;
    if (rows[at]?.text.toLowerCase().includes(wanted)) return at;
  }
  return -1;
}
