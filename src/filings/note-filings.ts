import { notedType } from '../events/event-types.ts';
import { commitUnread } from './answers.ts';
import { unlessLost } from './commit/commit-writer.ts';
import type { FilingCommit } from './detection/decide-commit.ts';
import { shownDueDate, type ReadDueRules } from './detection/due-dates.ts';
import { afterStep, type TriageStep } from './detection/triage.ts';
import type { FilingListStore } from './lists/filing-list-store.ts';
import type { SnapshotStore } from './snapshot-store.ts';
import type { TriageStore } from './triage-store.ts';

/** The result of what a person does with a filing. */
export type Noted =
  | 'noted' // with its event
  | 'unchanged' // it was so already; nothing is written
  | 'unknown' // no poll has seen the filing, or the account was removed meanwhile
  | 'not_rejected' // only a filing that is REJECTED is marked as seen
  | 'full'; // something is noted of as many filings of the account as may be

export interface NoteDeps {
  readonly snapshot: Pick<SnapshotStore, 'read' | 'commit'>;
  readonly filings: Pick<FilingListStore, 'getAll'>;
  readonly triage: TriageStore;
  readonly readDueRules: ReadDueRules;
  readonly polling: { read(account: string): Promise<{ readonly generation: string }> };
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

// Maximum number of filings that one script writes.
const filingsAtOnceMax = 100;
const conflictRetriesMax = 10;

/**
 * Writes what a person does with filings, each with its `filing.noted`: one step for each filing, which a
 * crash leaves done or not. A step that changes nothing appends nothing. After a conflict with a poll or
 * another person the filing is read and decided again. Returns the result of each id.
 */
export async function noteFilings(
  deps: NoteDeps,
  account: string,
  ids: readonly string[],
  step: TriageStep,
): Promise<ReadonlyMap<string, Noted>> {
  const results = new Map<string, Noted>();
  const { generation } = await deps.polling.read(account);
  const all = [...new Set(ids)];
  for (let from = 0; from < all.length; from += filingsAtOnceMax) {
    let open: readonly string[] = all.slice(from, from + filingsAtOnceMax);
    for (let attempt = 0; open.length > 0; attempt += 1) {
      if (attempt > conflictRetriesMax)
        throw new Error(`${open.length} filings changed under every attempt to note something of them`);
      // Each attempt decides on what the one before has found in conflict.
      open = await noteSome({ ...deps, generation }, account, open, step, results);
    }
  }
  return results;
}

// Returns the ids in conflict.
async function noteSome(
  deps: NoteDeps & { readonly generation: string },
  account: string,
  ids: readonly string[],
  step: TriageStep,
  results: Map<string, Noted>,
): Promise<readonly string[]> {
  const { snapshot, filings, triage, readDueRules, generation, now } = deps;
  const at = now();
  // States before records: each write of a record changes the state too, so that an old record cannot win.
  const states = await snapshot.read(account, ids);
  const [records, listed, rules] = await Promise.all([
    triage.read(account, ids),
    filings.getAll(account, ids),
    readDueRules(account),
  ]);
  const detailsOf = new Map(listed.map(({ id, details }) => [id, details]));
  const added: FilingCommit[] = [];
  const changed: FilingCommit[] = [];
  for (const [i, id] of ids.entries()) {
    const [previous, text] = [states[i] ?? null, records[i] ?? null];
    if (previous === null) {
      results.set(id, 'unknown');
      continue;
    }
    const { state } = previous;
    const after = afterStep(text, state, step, at);
    if (typeof after === 'string') {
      results.set(id, after);
      continue;
    }
    const details = detailsOf.get(id) ?? null;
    const filing = { id, stored: previous, details, ...shownDueDate(rules, state.effective) };
    const report = { type: notedType, notBefore: at, note: after.note };
    const commit = commitUnread({ account, generation }, filing, state, report, at);
    (text === null ? added : changed).push({ ...commit, triage: after.record });
  }
  const room = await triage.room(account, added.length);
  for (const { id } of added.slice(room)) results.set(id, 'full');
  const commits = [...added.slice(0, room), ...changed];
  const written = await unlessLost(snapshot.commit(account, generation, commits, at));
  const open = commits.filter((_, i) => written?.[i]?.kind === 'conflict').map(({ id }) => id);
  for (const { id } of commits)
    if (!open.includes(id)) results.set(id, written === null ? 'unknown' : 'noted');
  return open;
}
