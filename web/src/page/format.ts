// Numbers and instants as people read them; a dash if there is none.

const NONE = "–";
// Beyond this, digits in groups are longer than anybody reads.
const LONG = 1e12;

type Value = number | null | undefined;

export function milliseconds(value: Value): string {
  if (!isNumber(value)) return NONE;
  if (value < 1e-3) return `${significant(value * 1e6)} ns`;
  if (value < 1) return `${significant(value * 1e3)} µs`;
  if (value < 1e3) return `${significant(value)} ms`;
  return `${significant(value / 1e3)} s`;
}

export function seconds(value: Value): string {
  if (!isNumber(value)) return "";
  if (value < 60) return `${Math.max(0, value).toFixed(1)} s`;
  return `${Math.floor(value / 60)} min ${Math.floor(value % 60)} s`;
}

export function figure(value: Value): string {
  return isNumber(value) ? significant(value) : NONE;
}

// A small sum has six digits, or, if `leastDigits` is given, only those that it needs.
export function dollars(value: Value, leastDigits?: number): string {
  if (!isNumber(value)) return NONE;
  const digits = value !== 0 && Math.abs(value) < 1 ? 6 : 2;
  const options = { minimumFractionDigits: leastDigits ?? digits, maximumFractionDigits: digits };
  return `$${value.toLocaleString("en-US", options)}`;
}

// All digits that a float can be told from its neighbours by.
export function exact(value: unknown): string {
  if (value === null || value === undefined) return NONE;
  return typeof value === "number" ? String(Number(value.toPrecision(9))) : String(value);
}

export function ago(instant: string | null, now = Date.now()): string {
  const passed = (now - Date.parse(instant ?? "")) / 1000;
  if (!isNumber(passed)) return NONE;
  if (passed < 60) return "just now";
  if (passed < 3600) return `${Math.floor(passed / 60)} min ago`;
  if (passed < 86400) return `${Math.floor(passed / 3600)} h ago`;
  return new Date(instant ?? "").toLocaleDateString();
}

export function count(value: number | string): string {
  return Number(value).toLocaleString("en-US");
}

export function isNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

function significant(value: number): string {
  if (Math.abs(value) >= LONG) return value.toExponential(3);
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
}
