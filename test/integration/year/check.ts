import type { SeenEvent } from '../../support/partner/watched-account.ts';
import {
  pollShift,
  stalledDays,
  yearDays,
  yearFrom,
  zone,
  type LivedAccount,
  type LivedYear,
} from './live.ts';
import { dayMs, type Life } from './plan.ts';

/** What was found in a year. */
export interface YearFigures {
  readonly events: number;
  readonly rejections: number;
  /** How each rejection ended; those that did in none of these ways are among the violations. */
  readonly ends: Readonly<Record<'answered' | 'corrected' | 'seen' | 'warned', number>>;
  readonly due: number;
  readonly digests: number;
  /** In words, each once. */
  readonly violations: readonly string[];
}

// Time in which a deadline that has passed is reported. A poll may fall into an outage, and the next one, which
// finds the service well again, reports nothing yet: that is three polls, which are as late as they may be.
const slackOf = ({ pollDays }: LivedYear) => (3 + pollShift) * pollDays * dayMs;
const yearEnd = yearFrom + yearDays * dayMs;
// Days before its due date at which a filing is reported.
const warnings = { P7D: 7, P0D: 0 };

/** Holds an account's log and its state at the end of the year against the truth. */
export async function checkYear(year: LivedYear, account: LivedAccount): Promise<YearFigures> {
  const watched = await year.process.watch(account);
  const { account: name, filings, log } = watched;
  const violations: string[] = [];
  const expect = (isSo: boolean, otherwise: () => string) =>
    void (isSo || violations.push(`${name}: ${otherwise()}`));
  const events = await watched.events();
  const entries = await log.outlineAfter(name, 0, 1_000_000);
  expect(
    entries.every(({ position }, i) => position === i + 1),
    () => 'the log has gaps',
  );
  expect(new Set(events.map(({ id }) => id)).size === events.length, () => 'an id comes twice');
  const byFiling = Map.groupBy(events, ({ filingId }) => filingId ?? '');
  const states = new Map(
    (
      await filings.getAll(
        name,
        account.lives.map(({ id }) => id),
      )
    ).map((one) => [one.id, one]),
  );
  const answeredBy = new Map(
    account.lives.flatMap(({ id, answer }) => (answer === null ? [] : [[answer.id, id]])),
  );
  const ends = { answered: 0, corrected: 0, seen: 0, warned: 0 };
  let due = 0;
  for (const life of account.lives) {
    const own = byFiling.get(life.id) ?? [];
    const of = (type: string) => own.filter((event) => event.type === type);
    const filing = states.get(life.id);
    const story = () => `${life.id} (${lifeInWords(life)}): ${own.map(inWords).join(', ')}`;
    expect(
      own.every(({ sequence }, i) => sequence === i + 1),
      () => `sequence with gaps in ${story()}`,
    );
    expect(filing?.state.answeredBy === life.answer?.id, () => `wrong link in ${story()}`);
    expect(
      (filing?.answers ?? null) === (answeredBy.get(life.id) ?? null),
      () => `wrong link back in ${story()}`,
    );
    expect(of('filing.resubmitted').length === (life.answer === null ? 0 : 1), () => `links of ${story()}`);
    const noted = of('filing.noted').map(
      (event) => (event as unknown as { note: { kind: string } }).note.kind,
    );
    expect(
      noted.join(' ') === (isFinite(life.seenAt) ? 'seen assigned note' : ''),
      () => `notes of ${story()}`,
    );
    const warned = of('filing.due');
    due += warned.length;
    for (const [threshold, days] of Object.entries(warnings)) {
      const count = warned.filter((event) => thresholdOf(event) === threshold).length;
      const [least, most] = dueBounds(life, days, slackOf(year));
      expect(count >= least && count <= most, () => `${count} × ${threshold} of ${story()}`);
    }
    const stalled = of('filing.stalled').length;
    const [least, most] = stalledBounds(life, slackOf(year));
    expect(stalled >= least && stalled <= most, () => `${stalled} × stalled of ${story()}`);
    const answeredAt = own.findIndex(({ type }) => type === 'filing.resubmitted');
    expect(
      answeredAt < 0 || own.slice(answeredAt).every(({ type }) => type === 'filing.resubmitted'),
      () => `an alarm after its answer: ${story()}`,
    );
    if (!isFinite(life.rejectedAt)) continue;
    const isInTime = warned.length === 2 && warned.some(({ notAfter }) => notAfter < life.dueAt);
    const end =
      filing?.state.answeredBy !== undefined
        ? 'answered'
        : filing?.state.status === 'COMPLETED'
          ? 'corrected'
          : filing?.seen != null
            ? 'seen'
            : isInTime
              ? 'warned'
              : null;
    if (end === null) violations.push(`${name}: a rejection ends unnoticed: ${story()}`);
    else ends[end] += 1;
  }
  const open = account.lives.filter(
    (life) => isFinite(life.rejectedAt) && !isFinite(life.correctedAt) && life.answer === null,
  );
  const onBoard = await filings.count({ account: name, status: 'REJECTED' });
  expect(onBoard === open.length, () => `${onBoard} on the board, ${open.length} are open`);
  const digests = events.filter(({ type }) => type === 'account.digest') as unknown as Digest[];
  violations.push(...digestViolations(year, account, digests).map((each) => `${name}: ${each}`));
  const last = digests.at(-1)?.counts;
  const counts = {
    open: open.length,
    overdue: open.length,
    unseen: open.filter(({ seenAt }) => !isFinite(seenAt)).length,
  };
  for (const [count, is] of Object.entries(counts))
    expect(last?.[count] === is, () => `the last digest counts ${last?.[count]} ${count}, there are ${is}`);
  return {
    events: events.length,
    rejections: account.lives.filter(({ rejectedAt }) => isFinite(rejectedAt)).length,
    ends,
    due,
    digests: digests.length,
    violations,
  };
}

interface Digest {
  readonly date: string;
  readonly timestamp: number;
  readonly counts: Readonly<Record<string, number>>;
}

type Bounds = readonly [least: number, most: number];

// How often a warning is to come.
function dueBounds(life: Life, days: number, slackMs: number): Bounds {
  const { bornAt, completedAt, answer, dueAt } = life;
  const at = Math.max(dueAt - days * dayMs, bornAt);
  const until = Math.min(completedAt, answer?.bornAt ?? Infinity, days > 0 ? dueAt : Infinity);
  const isLate = days > 0 && bornAt >= dueAt;
  return boundsOf(life, at, until, slackMs, isLate);
}

// How often it is to be said that a rejection waits.
function stalledBounds(life: Life, slackMs: number): Bounds {
  const { rejectedAt, correctedAt, seenAt, answer } = life;
  const at = rejectedAt + stalledDays * dayMs;
  const until = Math.min(correctedAt, seenAt, answer?.bornAt ?? Infinity);
  return boundsOf(life, at, until, slackMs, !isFinite(rejectedAt) || seenAt < at);
}

// Between two moments; a poll that shows a change reports nothing else of the filing, so that changes
// in a row put a report off.
function boundsOf(life: Life, from: number, until: number, slackMs: number, isNever: boolean): Bounds {
  const changes = [life.bornAt, life.paidAt, life.pendingAt, life.rejectedAt, life.correctedAt];
  const at = changes.reduce((put, change) => (change < put + slackMs ? Math.max(put, change) : put), from);
  return [at + slackMs < Math.min(until, yearEnd) ? 1 : 0, from < until + slackMs && !isNever ? 1 : 0];
}

// Each day has one, soon after 08:00 in Chicago, but the day on which the daemon was away from before that.
function digestViolations(
  { daemonAwayFrom }: LivedYear,
  { settings }: LivedAccount,
  digests: readonly Digest[],
): string[] {
  const days = settings.digest?.days;
  const expected: string[] = [];
  for (let day = 0; day < yearDays; day += 1) {
    const at = yearFrom + day * dayMs;
    const isWeekend = [0, 6].includes(new Date(at).getUTCDay());
    const isAway = at < daemonAwayFrom && daemonAwayFrom < at + dayMs;
    if (!isAway && !(isWeekend && days === 'mon-fri')) expected.push(new Date(at).toISOString().slice(0, 10));
  }
  // The first poll of the year may come after the first digest.
  const found = digests.map(({ date }) => date);
  const from = found[0] === expected[0] ? 0 : 1;
  const wrong =
    JSON.stringify(found) === JSON.stringify(expected.slice(from)) ? [] : [`digests on ${found.join()}`];
  const clock = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const times = digests.slice(1).map(({ date, timestamp }) => `${date} ${clock.format(timestamp)}`);
  const late = times.filter((time) => !/ 08:0\d$/.test(time));
  return late.length === 0 ? wrong : [...wrong, `digests at ${late.join()}`];
}

function thresholdOf({ due }: SeenEvent): string {
  return (due as { threshold: string }).threshold;
}

function inWords(event: SeenEvent): string {
  const more = event.type === 'filing.due' ? ` ${thresholdOf(event)}` : '';
  return `${event.type}${more} on ${onDay(event.notAfter)}`;
}

function lifeInWords(life: Life): string {
  const { bornAt, rejectedAt, correctedAt, completedAt, seenAt, dueAt, answer } = life;
  const moments = {
    bornAt,
    rejectedAt,
    correctedAt,
    completedAt,
    seenAt,
    dueAt,
    answeredAt: answer?.bornAt ?? Infinity,
  };
  return Object.entries(moments)
    .filter(([, at]) => isFinite(at))
    .map(([what, at]) => `${what} ${onDay(at)}`)
    .join(', ');
}

function onDay(at: number): string {
  return ((at - yearFrom) / dayMs).toFixed(2);
}
