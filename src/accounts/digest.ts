/** When an account sends its digest, in local time. */
export interface DigestSchedule {
  /** Time of day, `08:00`. */
  readonly at: string;
  /** A time zone that `Intl` knows, `America/Chicago`. */
  readonly zone: string;
  /** `daily`, or days and ranges of them with commas between: `mon-fri`, `mon,wed`. */
  readonly days: string;
}

const weekdays = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** What is wrong with a schedule, completing "digest …"; null for a valid one; pure. */
export function digestProblem({ at, zone, days }: DigestSchedule): string | null {
  if (!/^(?:[01]\d|2[0-3]):[0-5]\d$/.test(at)) return 'needs "at" as a time of day from 00:00 to 23:59';
  if (clockIn(zone) === null) return 'needs "zone" as a time zone, such as America/Chicago';
  return daysOf(days) === null ? 'needs "days" as daily, mon-fri, or days with commas between' : null;
}

// Milliseconds for which a digest stays due at least: a round over all accounts takes minutes, and may reach
// one after midnight.
const dueMsMin = 3_600_000;
const lastHour = '23:00';

/**
 * The local date (`2026-11-28`) whose digest is due at a time, in milliseconds; null for none; pure. It is
 * due from its time of day to the end of the day, and one of the last hour of a day for an hour of the next
 * day, too. A time of day that does not exist, because clocks are set forward, is due right after it; of one
 * that exists twice, the first.
 */
export function digestDate({ at, zone, days }: DigestSchedule, now: number): string | null {
  const today = localTime(zone, now);
  const dayBefore = at < lastHour ? today : localTime(zone, now - dueMsMin);
  const isOfDayBefore = dayBefore.date !== today.date;
  const { date, weekday } = isOfDayBefore ? dayBefore : today;
  const isDue = (isOfDayBefore || today.clock >= at) && daysOf(days)?.has(weekday) === true;
  return isDue ? date : null;
}

function localTime(zone: string, at: number): { date: string; weekday: string; clock: string } {
  const parts = clockIn(zone)?.formatToParts(at) ?? [];
  const of = (type: Intl.DateTimeFormatPartTypes) => parts.find((part) => part.type === type)?.value ?? '';
  return {
    date: `${of('year')}-${of('month')}-${of('day')}`,
    weekday: of('weekday').toLowerCase(),
    clock: `${of('hour')}:${of('minute')}`,
  };
}

// Null for text that names no days.
function daysOf(text: string): ReadonlySet<string> | null {
  if (text === 'daily') return new Set(weekdays);
  const ranges = text.split(',').map((part) => {
    const [first = -1, last = first, ...rest] = part.split('-').map((day) => weekdays.indexOf(day));
    return { first, last, isWrong: rest.length > 0 };
  });
  if (ranges.some(({ first, last, isWrong }) => isWrong || first < 0 || last < 0)) return null;
  // A range may go over the end of a week: `sat-mon`.
  return new Set(
    ranges.flatMap(({ first, last }) =>
      weekdays.filter((_, i) => (first <= last ? i >= first && i <= last : i >= first || i <= last)),
    ),
  );
}

// One is dear to make, and there are a few hundred zones.
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockIn(zone: string): Intl.DateTimeFormat | null {
  const known = clocks.get(zone);
  if (known !== undefined) return known;
  try {
    const clock = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      weekday: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
    });
    clocks.set(zone, clock);
    return clock;
  } catch {
    return null;
  }
}
