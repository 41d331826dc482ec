// Where records over time are drawn: each holds until the next. Shorter times are lower; pure.

export interface Size {
  width: number;
  height: number;
}

export interface Time {
  time: string | null;
  runtime_ms: number;
}

export interface Steps {
  begin: number;
  low: number;
  high: number;
  // One for each of the lists; empty for one without times.
  paths: string[];
}

// The lines of several lists on the same axes, up to now; null if there is nothing to draw. The times are on a
// logarithmic axis: a record is so many times as fast as the one before.
export function stepsOf(lists: readonly (readonly Time[])[], now: number, { width, height }: Size): Steps | null {
  const drawn = lists.map((times) =>
    times.map(({ time, runtime_ms: ms }) => ({ at: instant(time), ms })).filter(isDrawn),
  );
  const all = drawn.flat();
  if (!all.length) return null;
  const begin = Math.min(...all.map(({ at }) => at));
  const [low, high] = [Math.min(...all.map(({ ms }) => ms)), Math.max(...all.map(({ ms }) => ms))];
  // A clock that is behind the server's would draw the last ones outside.
  const end = Math.max(now, ...all.map(({ at }) => at));
  const x = (at: number) => (end > begin ? ((at - begin) / (end - begin)) * width : 0).toFixed(1);
  const y = (ms: number) =>
    (high > low ? (height * Math.log(high / ms)) / Math.log(high / low) : height / 2).toFixed(1);
  const path = (times: { at: number; ms: number }[]) =>
    times.map(({ at, ms }, index) => (index ? `H${x(at)}V${y(ms)}` : `M${x(at)} ${y(ms)}`)).join("");
  return { begin, low, high, paths: drawn.map((times) => (times.length ? `${path(times)}H${width}` : "")) };
}

function instant(time: string | null): number {
  return Date.parse(time ?? "");
}

function isDrawn({ at, ms }: { at: number; ms: number }): boolean {
  return Number.isFinite(at) && Number.isFinite(ms) && ms > 0;
}
