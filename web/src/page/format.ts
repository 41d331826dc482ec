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

// A unit that times are shown in, so that those of one table can be compared.
export interface TimeUnit {
  name: string;
  perMs: number;
}

const NANOSECONDS: TimeUnit = { name: "ns", perMs: 1e6 };
const LARGER_UNITS: [number, TimeUnit][] = [
  [1e3, { name: "s", perMs: 1e-3 }],
  [1, { name: "ms", perMs: 1 }],
  [1e-3, { name: "µs", perMs: 1e3 }],
];

// The unit in which the geometric mean of some times has one to three digits before the point.
export function unitOf(timesMs: readonly number[]): TimeUnit {
  const logarithms = timesMs.filter((time) => time > 0).map(Math.log);
  const mean = Math.exp(logarithms.reduce((sum, one) => sum + one, 0) / (logarithms.length || 1));
  return LARGER_UNITS.find(([least]) => mean >= least)?.[1] ?? NANOSECONDS;
}

// A time and half the width of its interval, such as "53 ± 42 µs". The interval has two digits, and the time ends with
// the same one: further digits would say nothing.
export function measured(ms: Value, halfMs: Value, unit: TimeUnit): string {
  if (!isNumber(ms)) return NONE;
  if (!isNumber(halfMs) || halfMs <= 0) return `${significant(ms * unit.perMs)} ${unit.name}`;
  const half = Number((halfMs * unit.perMs).toPrecision(2));
  return `${rounded(ms * unit.perMs, half)} ± ${rounded(half, half)} ${unit.name}`;
}

// A time in a list, by how far it can be believed: with its interval (a share of it), if that is known; to three digits,
// if it is proven; or else to two.
export function listed(ms: Value, isProven: boolean, interval: Value = null): string {
  if (!isNumber(ms)) return NONE;
  if (interval) return measured(ms, ms * interval, unitOf([ms]));
  return milliseconds(Number(ms.toPrecision(isProven ? 3 : 2)));
}

// A time without its interval, with the digits that the interval leaves.
export function inUnit(ms: Value, halfMs: Value, unit: TimeUnit): string {
  return isNumber(ms) ? `${within(ms * unit.perMs, (halfMs ?? 0) * unit.perMs)} ${unit.name}` : NONE;
}

// A number that is known up to `half`, with the digits that are.
export function within(value: Value, half: Value): string {
  if (!isNumber(value) || !isNumber(half) || half <= 0) return figure(value);
  const step = 10 ** Math.max(0, exponentOf(half));
  const decimals = decimalsOf(half, 0);
  const known = decimals ? Number(value.toFixed(decimals)) : Math.round(value / step) * step;
  return known.toLocaleString("en-US", { maximumFractionDigits: decimals });
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

// With the digits of `half`, which has two.
function rounded(value: number, half: number): string {
  const decimals = decimalsOf(half, 1);
  const step = 10 ** Math.max(0, exponentOf(half) - 1);
  const known = decimals ? value : Math.round(value / step) * step;
  return known.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function decimalsOf(half: number, more: number): number {
  return Math.min(20, Math.max(0, more - exponentOf(half)));
}

function exponentOf(value: number): number {
  return Number(value.toExponential().split("e")[1]);
}

function significant(value: number): string {
  if (Math.abs(value) >= LONG) return value.toExponential(3);
  return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en-US") : String(Number(value.toPrecision(4)));
}
