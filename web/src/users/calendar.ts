// The days of the last year as squares, a column for each week from Monday to Sunday, in UTC; pure.

export interface Day {
  date: string;
  submissions: number;
}

export interface Calendar {
  width: number;
  height: number;
  // The squares of the days, by how much was submitted: from nothing to very much.
  levels: string[];
  // A name above the week in which a month begins.
  months: { x: number; name: string }[];
}

const WEEKS = 53;
const STEP = 12;
const SIDE = 10;
// From so many submissions on, a day is of the next level.
const FROM = [1, 3, 6, 10];
const DAY_MS = 86_400_000;

export function calendarOf(days: readonly Day[], now: number): Calendar {
  const today = Math.floor(now / DAY_MS);
  const counts = new Map(days.map(({ date, submissions }) => [date, submissions]));
  const levels = Array<string>(FROM.length + 1).fill("");
  const months: Calendar["months"] = [];
  const monday = today - weekdayOf(today) - 7 * (WEEKS - 1);
  for (let day = monday; day <= today; day++) {
    const date = new Date(day * DAY_MS);
    const x = Math.floor((day - monday) / 7) * STEP;
    levels[levelOf(counts.get(date.toISOString().slice(0, 10)) ?? 0)] +=
      `M${x} ${weekdayOf(day) * STEP}h${SIDE}v${SIDE}h-${SIDE}z`;
    // There is no room for a name at the end.
    if (date.getUTCDate() === 1 && x < (WEEKS - 2) * STEP) months.push({ x, name: MONTHS[date.getUTCMonth()] ?? "" });
  }
  return { width: WEEKS * STEP, height: 7 * STEP, levels, months };
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

function levelOf(submissions: number): number {
  return FROM.filter((least) => submissions >= least).length;
}

// From 0, Monday; the first day of 1970 was a Thursday.
function weekdayOf(day: number): number {
  return (day + 3) % 7;
}
