import type { FilingCommit } from '../../filings/detection/decide-commit.ts';
import { recordedBy } from '../../filings/observe-filings.ts';
import { readIdentity, type Doubt } from '../beliefs/doubt.ts';
import { hiddenFilings } from '../beliefs/hidden-filings.ts';
import { canBeDoubted, weigh, type Evidence, type Verdict } from '../beliefs/weigh.ts';
import { unlessFailed } from '../list/refused-lists.ts';
import type { GatheredEvidence } from './evidence.ts';
import type { Tally } from './findings.ts';
import type { MissedRecord } from './missed-record.ts';
import type { PollInput, ReadDeps } from './poll-input.ts';
import { isBirth, type WaitingCommit, type WaitingCommits } from './waiting-commits.ts';

export type ConclusionDeps = Pick<ReadDeps, 'snapshot' | 'polling' | 'clock' | 'handOn'>;

/** The findings of a poll that are weighed at its end. */
interface Weighed {
  readonly tally: Tally;
  readonly evidence: GatheredEvidence;
  readonly waiting: WaitingCommits;
}

/** Weighs what a poll has found, and commits what waits as far as it is believed; see `Findings`. */
export function createConclusion(
  deps: ConclusionDeps,
  input: PollInput,
  missed: Pick<MissedRecord, 'gone'>,
  { tally, evidence, waiting }: Weighed,
) {
  const { client, marks, signal } = input;
  const { account } = input.account;

  async function weighAll(): Promise<Verdict> {
    const found = evidence.present();
    const verdict = weigh(found);
    if (evidence.seenAccount() !== undefined || (!verdict.list && isPlain(found))) return verdict;
    evidence.noteAccount(await readIdentity(client, signal));
    return weigh(evidence.present());
  }

  async function commitBelieved({ list, times }: Verdict): Promise<void> {
    const believed = waiting.take((commit) => (isBirth(commit) ? !list : !times));
    // In the order in which they were filed: one may answer another.
    const inOrder = believed.toSorted((a, b) => (a.createdAt || 0) - (b.createdAt || 0));
    const births = believed.filter(({ commit }) => isBirth(commit));
    births.forEach(evidence.endBirth);
    if (inOrder.length === 0) return;
    await deps.clock.synchronise();
    const commits = inOrder.map(({ commit }) => knownFrom(deps.clock.now(), commit));
    const hidden = await findHidden(births);
    const refused = await write(commits.map((one) => (hidden.has(one.id) ? withoutEvent(one) : one)));
    // The baseline leaves out no more filings: these are announced.
    await write(commits.filter(({ id }) => refused.has(id)));
  }

  // A filing that another process has changed since is left to the next poll. Returns the ids that are to be
  // announced.
  async function write(commits: readonly FilingCommit[]): Promise<ReadonlySet<string>> {
    const refused = new Set<string>();
    if (commits.length === 0) return refused;
    const results = await deps.snapshot.commit(account, marks.generation, commits, deps.clock.now());
    const events = commits.flatMap((commit, i) => {
      const result = results[i];
      if (result?.kind === 'baselined') refused.add(commit.id);
      return recordedBy(commit, result);
    });
    tally.events += events.length;
    if (events.length > 0) await deps.handOn(account, events);
    return refused;
  }

  // Those of the filings never seen before that the baseline has left out.
  async function findHidden(born: readonly WaitingCommit[]): Promise<ReadonlySet<string>> {
    if (marks.hidden === 0 || born.length === 0) return new Set();
    const total = await unlessFailed(client.countFilings(signal));
    const [stored, { hidden }] = await Promise.all([
      deps.snapshot.known(account),
      deps.polling.read(account),
    ]);
    const grownBy = total === null ? null : total - (stored - missed.gone()) - hidden;
    const dated = born.map(({ commit: { id }, createdAt }) => ({ id, createdAt }));
    return hiddenFilings(dated, { baselinedAt: marks.baselinedAt, counted: grownBy });
  }

  return {
    /** Decides which findings to believe. Asks for the account's identity if the lists are odd. */
    weigh: weighAll,
    /** Commits what waits, as far as it is believed; returns the verdict on all that the poll has found. */
    async conclude(): Promise<Verdict> {
      const verdict = await weighAll();
      await commitBelieved(verdict);
      evidence.endBirths();
      return verdict;
    },
    /**
     * Commits the filings never seen before, as far as they are believed, when reading could not go on. The
     * next poll finds the rest.
     */
    async concludeEarly() {
      // Only if nothing can be doubted, or the list shows itself to be the account's own.
      if (isPlain(evidence.present())) await commitBelieved({ ...(await weighAll()), times: true });
    },
    /** The doubt of a verdict, or null if there is none. */
    doubtOf({ reason }: Verdict): Doubt | null {
      if (reason === null) return null;
      const { known, shown, unknown, gone, moved, isOther } = evidence.present();
      const identity = isOther ? (evidence.seenAccount() ?? '') : '';
      return { reason, known, shown, unknown, gone, moved, identity };
    },
  };
}

// A poll that began before a birth was committed did not know the filing: its marks say nothing of it.
function knownFrom(at: number, commit: FilingCommit): FilingCommit {
  if (!isBirth(commit)) return commit;
  return { ...commit, next: { ...commit.next, readAt: Math.max(commit.next.readAt, at) } };
}

// The lists have shown enough known filings, or too few are known to doubt anything.
function isPlain(found: Evidence): boolean {
  return !canBeDoubted(found) || found.standing?.accepted === true || found.unknown <= found.shown;
}

function withoutEvent(commit: FilingCommit): FilingCommit {
  const { appearance: _, ...hidden } = commit;
  return { ...hidden, event: null, next: { ...commit.next, sequence: 0 } };
}
