// What compilers say, by line.

const PLACE = /^(?:[^\s:]*:)?(\d+):(?:(\d+):)?\s*(?:fatal )?(error|warning|note):\s*(.*)$/;

export interface Diagnostic {
  line: number;
  column: number;
  severity: "error" | "warning" | "info";
  message: string;
}

// The diagnostic of one line of a compiler's output; null if it has none.
export function diagnostic(text: string): Diagnostic | null {
  const match = text.match(PLACE);
  if (!match) return null;
  const [, line, column, severity, message = ""] = match;
  return {
    line: Number(line),
    column: Number(column ?? 1),
    severity: severity === "error" || severity === "warning" ? severity : "info",
    message,
  };
}

// Errors and warnings; notes belong to one of them.
export function diagnosed(text: string | null | undefined): Diagnostic[] {
  const found = (text ?? "").split("\n").map(diagnostic);
  return found.filter((one) => one !== null).filter(({ severity, line }) => severity !== "info" && line > 0);
}
