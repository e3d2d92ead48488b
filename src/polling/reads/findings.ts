import { detectChange } from '../../filings/detection/detect-change.ts';
import type { FilingCommit, Observation } from '../../filings/detection/decide-commit.ts';
import { observeFilings, type ObservationContext, type Step } from '../../filings/observe-filings.ts';
import type { PartnerFiling } from '../../partner/filing-schema.ts';
import type { PartnerError } from '../../partner/partner-error.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { notBefore } from '../beliefs/not-before.ts';
import type { PageRows } from '../list/repeated-rows.ts';
import { createConclusion, type ConclusionDeps } from './conclusion.ts';
import { gatherEvidence } from './evidence.ts';
import type { MissedRecord } from './missed-record.ts';
import type { PollInput, ReadDeps } from './poll-input.ts';
import { createWaitingCommits, isBirth } from './waiting-commits.ts';

/**
 * The findings of one poll. A change of a known filing is committed when it is read. Filings
 * never seen before, and those of which only `completedAt` has moved, wait in memory until the reads are
 * weighed. Without a baseline nothing waits.
 */
export type Findings = ReturnType<typeof createFindings>;

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
    /** The last failures that did not end the poll, or null if there were none. */
    listFailure: null as PartnerError | null,
    filingFailure: null as PartnerError | null,
    /** Records of lists that the service could not write, not even alone. */
    leftOut: 0,
    /** Records that lists cannot show although they were read, in words, by status; '' is the whole list. */
    gaps: new Map<string, string>(),
    /** The filing that a list showed last, or null if no list has shown one. */
    listedFiling: null as string | null,
  };
}

/** No findings yet. */
export function createFindings(
  deps: ConclusionDeps & Pick<ReadDeps, 'filingBytesMax' | 'bodies'>,
  input: PollInput,
  missed: MissedRecord,
) {
  const { account } = input.account;
  const tally = startTally();
  const evidence = gatherEvidence(input, missed);
  const waiting = createWaitingCommits();
  const conclusion = createConclusion(deps, input, missed, { tally, evidence, waiting });
  const context = contextOf(deps.filingBytesMax, input, missed);
  const underWay = new Set<Promise<unknown>>();

  async function compare(observations: readonly Observation[], span: ReadSpan, options: Observing) {
    // A later read of a filing replaces what waits of it.
    for (const { id } of observations) {
      const former = waiting.remove(id);
      if (former !== undefined) evidence.discount(former);
      if (former !== undefined && isBirth(former)) tally.added -= 1;
    }
    const earliest = options.notBefore ?? context.notBefore;
    const observed = await observeFilings(deps, { ...context, notBefore: earliest }, observations, span);
    tally.events += observed.events.length;
    tally.added += observed.added + evidence.count(observations, observed.waiting, options.isListed === true);
    tally.overtaken ||= observed.overtakenBy < input.startedAt;
    if (observed.events.length > 0) await deps.handOn(account, observed.events);
    await missed.forget(observations.filter(({ filing }) => filing !== null).map(({ id }) => id));
    for (const step of observed.waiting) await keep(step);
  }

  async function keep(step: Step): Promise<void> {
    if (waiting.add(step)) return;
    await conclusion.concludeEarly();
    if (!waiting.add(step)) tally.dropped += 1;
  }

  async function observe(
    observations: readonly Observation[],
    span: ReadSpan,
    options: Observing = {},
  ): Promise<void> {
    if (evidence.isOther() || observations.length === 0) return;
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
    const states = await deps.snapshot.read(account, idsOf(repeated));
    const contrary = repeated.filter((filing, i) => {
      const before = waiting.get(filing.id)?.next ?? states[i]?.state ?? null;
      const { kind } = detectChange(before, filing, span, false);
      return kind === 'change' || kind === 'silent';
    });
    return idsOf(contrary);
  }

  return {
    tally,
    /**
     * Compares filings with the snapshot. With `isListed` they count as shown by a list. Nothing is written
     * once another account answers.
     */
    observe,
    /**
     * Compares a page. A filing counts as the first page of the poll shows it. Returns the filings that a
     * later page contradicts: they are to be read by themselves.
     */
    async observePage({ firstShown, repeated }: PageRows, span: ReadSpan): Promise<readonly string[]> {
      const observations = firstShown.map((filing) => ({ id: filing.id, filing }));
      await observe(observations, span, { isListed: true });
      return repeated.length === 0 ? [] : contradicted(repeated, span);
    },
    /** The account's own lists would have shown at least this number of the known filings. */
    expect: evidence.expect,
    /** Records the account that `GET /partner/me` names, or null if it names none. */
    noteAccount: evidence.noteAccount,
    /** Whether another account answers; then no finding of the poll counts. */
    isOther: evidence.isOther,
    /** The findings so far, in numbers. */
    evidence: evidence.present,
    /** Number of filings never seen before that wait, or did not fit; 0 after `conclude`. */
    births: evidence.births,
    ...conclusion,
  };
}

function contextOf(
  filingBytesMax: number,
  { account: { account }, marks, deadlines, late }: PollInput,
  missed: Pick<MissedRecord, 'get'>,
): ObservationContext {
  const { generation, baselined } = marks;
  return {
    account,
    generation,
    filingBytesMax,
    deadlines,
    late,
    announces: () => baselined,
    waits: (commit) => baselined && isWeighed(commit),
    notBefore: (id, previous, document) => notBefore(marks, missed.get(id), previous, document),
  };
}

function isWeighed(commit: FilingCommit): boolean {
  return isBirth(commit) || commit.movesTime === true;
}

function idsOf(filings: readonly PartnerFiling[]): string[] {
  return [...new Set(filings.map(({ id }) => id))];
}

/** The last failure that did not end the poll, or null if there was none. */
export function failureOf({ filingFailure, listFailure }: Readonly<Tally>): PartnerError | null {
  return filingFailure ?? listFailure;
}
