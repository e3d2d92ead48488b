import { detectChange } from '../../filings/detection/detect-change.ts';
import type { FilingCommit, Observation } from '../../filings/detection/decide-commit.ts';
import { isSameInstant } from '../../filings/detection/same-instant.ts';
import { observeFilings, toRecorded, type Step } from '../../filings/observe-filings.ts';
import { createdAtOf, type PartnerFiling } from '../../partner/filing-schema.ts';
import { isSettled } from '../../partner/filing-statuses.ts';
import type { PartnerError } from '../../partner/partner-error.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { hiddenFilings } from '../beliefs/hidden-filings.ts';
import { notBefore } from '../beliefs/not-before.ts';
import { readIdentity, standingDoubt, type Doubt } from '../beliefs/doubt.ts';
import { canBeDoubted, weigh, type Evidence, type Verdict } from '../beliefs/weigh.ts';
import { unlessFailed } from '../list/refused-lists.ts';
import type { PageRows } from '../list/repeated-rows.ts';
import type { MissedRecord } from './missed-record.ts';
import type { PollInput, ReadDeps } from './poll-input.ts';

/**
 * The findings of one poll. A change of a known filing is committed when it is read. Filings
 * never seen before, and those of which only `completedAt` has moved, wait in memory until the reads are
 * weighed. Without a baseline nothing waits.
 */
export interface Findings {
  readonly tally: Tally;
  /**
   * Compares filings with the snapshot. With `isListed` they count as shown by a list. Nothing is written
   * once another account answers.
   */
  observe(observations: readonly Observation[], span: ReadSpan, options?: Observing): Promise<void>;
  /**
   * Compares a page. A filing counts as the first page of the poll shows it. Returns the filings that a later
   * page contradicts: they are to be read by themselves.
   */
  observePage(rows: PageRows, span: ReadSpan): Promise<readonly string[]>;
  /** The account's own lists would have shown at least this number of the known filings. */
  expect(shown: number): void;
  /** Takes note of the account that `GET /partner/me` names; null where it names none. */
  noteAccount(digest: string | null): void;
  /** Whether another account answers; then no finding of the poll counts. */
  isOther(): boolean;
  /** The findings so far, in numbers. */
  evidence(): Evidence;
  /** What is to be believed of it. Asks for the account's identity where the lists are odd. */
  weigh(): Promise<Verdict>;
  /** Commits what waits, as far as it is believed; returns the verdict on all that the poll has found. */
  conclude(): Promise<Verdict>;
  /**
   * Commits the filings never seen before, as far as they are believed, when reading could not go on. The
   * next poll finds the rest.
   */
  concludeEarly(): Promise<void>;
  /** Number of filings never seen before that wait, or did not fit; 0 after `conclude`. */
  births(): number;
  /** The doubt of a verdict; null when there is none. */
  doubtOf(verdict: Verdict): Doubt | null;
}

interface Observing {
  readonly isListed?: boolean;
  /** Latest time at which each filing is known to have been as stored; by default the marks say so. */
  readonly notBefore?: () => number;
}

/** The counts of one poll so far, beside its evidence. The reads of the poll write it. */
export type Tally = ReturnType<typeof startTally>;

function startTally() {
  return {
    /** Events put into the log. */
    events: 0,
    /** Filings never seen before, those that wait included. */
    added: 0,
    /** Number of findings that did not fit into the memory in which they wait. */
    dropped: 0,
    /** Known filings that could not be read, including those left alone for now. */
    unread: 0,
    /**
     * True when a newer read, of a poll that started before this one, overtook a read. That read then proves
     * nothing about its time.
     */
    overtaken: false,
    /** The last failures that did not end the poll; null when there was none. */
    listFailure: null as PartnerError | null,
    filingFailure: null as PartnerError | null,
    /** Records of lists that the service could not write, not even alone. */
    leftOut: 0,
    /** Records that lists cannot show although they were read, in words, by status; '' is the whole list. */
    gaps: new Map<string, string>(),
    /** The filing that a list has shown last; null when no list has shown a filing. */
    listedFiling: null as string | null,
  };
}

/** A commit that waits. */
interface Waiting {
  readonly commit: FilingCommit;
  /** When the filing was created according to itself, milliseconds; NaN where it does not say. */
  readonly createdAt: number;
}

// Maximum characters of the events that wait. The next poll finds the rest again.
const waitingMax = 8 * 1024 * 1024;
// Number of characters that a commit without a large event takes.
const commitLength = 1_024;

/** No findings yet. */
export function createFindings(
  deps: Pick<
    ReadDeps,
    'snapshot' | 'polling' | 'clock' | 'filingBytesMax' | 'bodies' | 'handOn' | 'doubtLimits'
  >,
  { account: { account }, client, marks, known, stays, startedAt, signal }: PollInput,
  missed: MissedRecord,
): Findings {
  const { snapshot } = deps;
  const { generation, baselined, identity } = marks;
  const standing = standingDoubt(marks);
  const tally = startTally();
  const goneAtFirst = missed.gone();
  const counted = { shown: 0, unknown: 0, timed: 0, moved: 0 };
  const waiting = new Map<string, Waiting>();
  const underWay = new Set<Promise<unknown>>();
  let waitingLength = 0;
  let births = 0;
  let expected = 0;
  // Undefined until the service was asked.
  let seen: string | null | undefined;

  const isOther = () =>
    canBeDoubted({ baselined, known }) && seen != null && identity !== '' && seen !== identity;
  const evidence = (): Evidence => {
    const gone = missed.gone();
    const goneBefore = Math.min(goneAtFirst, gone);
    return { known, expected, ...counted, gone, goneBefore, isOther: isOther(), baselined, standing };
  };

  async function compare(observations: readonly Observation[], span: ReadSpan, options: Observing) {
    const context = {
      account,
      generation,
      filingBytesMax: deps.filingBytesMax,
      stayLimit: stays.limitOf,
      announces: () => baselined,
      waits: (commit: FilingCommit) => baselined && isWeighed(commit),
      notBefore:
        options.notBefore ??
        ((id, previous, document) => notBefore(marks, missed.get(id), previous, document)),
    } satisfies Parameters<typeof observeFilings>[1];
    // A later read of a filing replaces what waits of it.
    for (const { id } of observations) forget(id);
    const observed = await observeFilings(deps, context, observations, span);
    tally.events += observed.events.length;
    tally.added += observed.added;
    tally.overtaken ||= observed.overtakenBy < startedAt;
    count(observations, observed.waiting, options.isListed === true);
    if (observed.events.length > 0) await deps.handOn(account, observed.events);
    await missed.forget(observations.filter(({ filing }) => filing !== null).map(({ id }) => id));
    for (const step of observed.waiting) await keep(step);
  }

  function count(observations: readonly Observation[], steps: readonly Step[], isListed: boolean): void {
    const weighed = new Map(steps.map(({ observation, commit }) => [observation.id, isBirth(commit)]));
    for (const { id, filing } of observations) {
      const isNew = weighed.get(id) === true;
      const isMoved = weighed.get(id) === false;
      if (isNew) births += 1;
      if (isListed) counted[isNew ? 'unknown' : 'shown'] += 1;
      if (isMoved) counted.moved += 1;
      if (isMoved || (!isNew && filing !== null && isTimed(filing))) counted.timed += 1;
      if (isNew) tally.added += 1;
    }
  }

  function forget(id: string): void {
    const former = waiting.get(id);
    if (former === undefined) return;
    waiting.delete(id);
    waitingLength -= lengthOf(former.commit);
    if (isBirth(former.commit)) {
      births -= 1;
      tally.added -= 1;
    } else {
      counted.moved -= 1;
      counted.timed -= 1;
    }
  }

  async function keep({ observation: { filing }, commit }: Step): Promise<void> {
    const length = lengthOf(commit);
    if (waitingLength + length > waitingMax) await concludeEarly();
    if (waitingLength + length > waitingMax) return void (tally.dropped += 1);
    waiting.set(commit.id, { commit, createdAt: createdAtOf(filing) });
    waitingLength += length;
  }

  async function weighAll(): Promise<Verdict> {
    const verdict = weigh(evidence(), deps.doubtLimits);
    if (seen !== undefined || (!verdict.list && isPlain(evidence()))) return verdict;
    seen = await readIdentity(client, signal);
    return weigh(evidence(), deps.doubtLimits);
  }

  // Where nothing could be doubted, or the list shows itself to be the account's own.
  async function concludeEarly(): Promise<void> {
    if (isPlain(evidence())) await commitBelieved({ ...(await weighAll()), times: true });
  }

  async function commitBelieved({ list, times }: Verdict): Promise<void> {
    const believed = [...waiting.values()].filter(({ commit }) => (isBirth(commit) ? !list : !times));
    for (const { commit } of believed) forgetWritten(commit);
    if (believed.length === 0) return;
    await deps.clock.synchronise();
    const hidden = await findHidden(believed.filter(({ commit }) => isBirth(commit)));
    const refused = await write(
      believed.map(({ commit }) => (hidden.has(commit.id) ? withoutEvent(commit) : commit)),
    );
    // The baseline leaves out no more filings: these are announced.
    await write(believed.map(({ commit }) => commit).filter(({ id }) => refused.has(id)));
  }

  function forgetWritten(commit: FilingCommit): void {
    waiting.delete(commit.id);
    waitingLength -= lengthOf(commit);
    if (isBirth(commit)) births -= 1;
  }

  // A filing that another process has changed since is left to the next poll. Returns the ids that are to be
  // announced.
  async function write(commits: readonly FilingCommit[]): Promise<ReadonlySet<string>> {
    const refused = new Set<string>();
    if (commits.length === 0) return refused;
    const results = await snapshot.commit(account, generation, commits, deps.clock.now());
    const events = commits.flatMap(({ id, event }, i) => {
      const result = results[i];
      if (result?.kind === 'baselined') refused.add(id);
      const position = result?.kind === 'written' ? result.position : null;
      return event === null || position === null ? [] : toRecorded(event, position);
    });
    tally.events += events.length;
    if (events.length > 0) await deps.handOn(account, events);
    return refused;
  }

  // Those of the filings never seen before that the baseline has left out.
  async function findHidden(found: readonly Waiting[]): Promise<ReadonlySet<string>> {
    if (marks.hidden === 0 || found.length === 0) return new Set();
    const total = await unlessFailed(client.countFilings(signal));
    const [stored, { hidden }] = await Promise.all([snapshot.known(account), deps.polling.read(account)]);
    const grownBy = total === null ? null : total - (stored - missed.gone()) - hidden;
    const dated = found.map(({ commit: { id }, createdAt }) => ({ id, createdAt }));
    return hiddenFilings(dated, { baselinedAt: marks.baselinedAt, counted: grownBy });
  }

  async function observe(
    observations: readonly Observation[],
    span: ReadSpan,
    options: Observing = {},
  ): Promise<void> {
    if (isOther() || observations.length === 0) return;
    const work = compare(observations, span, options);
    underWay.add(work);
    try {
      await work;
    } finally {
      underWay.delete(work);
    }
  }

  async function contradicted(repeated: readonly PartnerFiling[], span: ReadSpan): Promise<string[]> {
    // The snapshot has to hold the filings of earlier pages by then.
    await Promise.allSettled(underWay);
    const states = await snapshot.read(account, idsOf(repeated));
    const contrary = repeated.filter((filing, i) => {
      const before = waiting.get(filing.id)?.commit.next ?? states[i]?.state ?? null;
      const { kind } = detectChange(before, filing, span, false);
      return kind === 'change' || kind === 'silent';
    });
    return idsOf(contrary);
  }

  return {
    tally,
    observe,
    async observePage({ firstShown, repeated }, span) {
      const observations = firstShown.map((filing) => ({ id: filing.id, filing }));
      await observe(observations, span, { isListed: true });
      return repeated.length === 0 ? [] : contradicted(repeated, span);
    },
    expect: (shown) => void (expected = Math.min(known, shown)),
    noteAccount: (digest) => void (seen = digest),
    isOther,
    evidence,
    weigh: weighAll,
    async conclude() {
      const verdict = await weighAll();
      await commitBelieved(verdict);
      births = 0;
      return verdict;
    },
    concludeEarly,
    births: () => births,
    doubtOf({ reason }) {
      if (reason === null) return null;
      const { shown, unknown, gone, moved } = evidence();
      return { reason, known, shown, unknown, gone, moved, identity: isOther() ? (seen ?? '') : '' };
    },
  };
}

const isBirth = ({ previous }: FilingCommit) => previous === null;

function isWeighed(commit: FilingCommit): boolean {
  return isBirth(commit) || commit.movesTime === true;
}

// The lists have shown enough known filings, or too few are known to doubt anything.
function isPlain(found: Evidence): boolean {
  return !canBeDoubted(found) || found.standing?.accepted === true || found.unknown <= found.shown;
}

function isTimed({ status, completedAt }: PartnerFiling): boolean {
  return isSettled(status) && !isSameInstant(completedAt, null);
}

function lengthOf({ event }: FilingCommit): number {
  return commitLength + (event?.body.length ?? 0);
}

function withoutEvent(commit: FilingCommit): FilingCommit {
  return { ...commit, event: null, next: { ...commit.next, sequence: 0 } };
}

function idsOf(filings: readonly PartnerFiling[]): string[] {
  return [...new Set(filings.map(({ id }) => id))];
}

/** The last failure that did not end the poll; null when there was none. */
export function failureOf({ filingFailure, listFailure }: Readonly<Tally>): PartnerError | null {
  return filingFailure ?? listFailure;
}
