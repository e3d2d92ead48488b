import { buildFilingEvent, type FilingChange } from '../events/event.ts';
import { answerType } from '../events/event-types.ts';
import { createdAtOf } from '../partner/filing-schema.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import type { OnUnreadable } from '../redis/unreadable-record.ts';
import type { Appearance, FilingCommit } from './detection/decide-commit.ts';
import { noDueRules, shownDueDate, type ReadDueRules } from './detection/due-dates.ts';
import type { FilingDetails } from './detection/filing-details.ts';
import { type FilingState, stayMarks, type StoredState } from './detection/filing-state.ts';
import { isOpenRejection } from './detection/triage.ts';
import { createFilingIndex } from './lists/filing-index.ts';
import { createFilingReader } from './lists/filing-reader.ts';
import { createStateReader } from './read-states.ts';

/** A filing as it is stored. */
export interface StoredFiling {
  readonly id: string;
  readonly stored: StoredState;
  readonly details: FilingDetails | null;
  /** When it is due (ms), or null for never; missing if the account has no rules. */
  readonly dueAt?: number | null;
}

/** An account, and the generation of its snapshot. */
export interface SnapshotPlace {
  readonly account: string;
  readonly generation: string;
}

/** Which rejections are answered by which filings. */
export type Answers = ReturnType<typeof createAnswers>;

// Maximum number of rejections that are looked at for one filing.
const candidatesMax = 20;

/** Answers by the index of what open rejections look like. */
export function createAnswers(
  redis: RedisClient,
  keys: Keys,
  onUnreadable: OnUnreadable,
  readDueRules: ReadDueRules = noDueRules,
) {
  const index = createFilingIndex(redis, keys);
  const states = createStateReader(redis, keys, onUnreadable);
  const reader = createFilingReader(redis, keys, onUnreadable);

  async function read(account: string, id: string): Promise<StoredFiling | null> {
    const [stored = null] = await states.read(account, [id]);
    if (stored === null) return null;
    const { state } = stored;
    const [[listed], rules] = await Promise.all([
      reader.listed(account, [[id, state]]),
      readDueRules(account),
    ]);
    return { id, stored, details: listed?.details ?? null, ...shownDueDate(rules, state.effective) };
  }

  async function answeredBy(account: string, ids: readonly string[]): Promise<(string | null)[]> {
    return ids.length === 0 ? [] : redis.hmget(keys.account(account).answers, ...ids);
  }

  async function lookAlikes(account: string, commits: readonly FilingCommit[]) {
    const wanted = new Set(commits.flatMap(({ appearance }) => appearance?.lookAlike ?? []));
    const found = Array.from(wanted, async (key) => {
      const source = { account, status: key, by: 'lookAlikes' } as const;
      const members = await index.members(source, null, candidatesMax, 'newest');
      return [key, members.map(({ id }) => id)] as const;
    });
    return new Map(await Promise.all(found));
  }

  return {
    /** Null for a filing that was never seen. */
    read,
    /** The rejections that these filings answer, in their order; null for none. */
    answeredBy,
    /**
     * For each filing that appears, joins the commit of the newest open rejection that looks like it and is
     * not younger; for each removed filing, the commit of the rejection that it answered. Two filings never
     * answer one rejection. Reads nothing if no filing appears or is removed.
     */
    async join(place: SnapshotPlace, commits: readonly FilingCommit[], at: number): Promise<FilingCommit[]> {
      const { account } = place;
      const removed = commits.filter(isRemoval).map(({ id }) => id);
      const [open, former] = await Promise.all([lookAlikes(account, commits), answeredBy(account, removed)]);
      const taken = new Set<string>();

      async function answered(id: string, appearance: Appearance): Promise<StoredFiling | null> {
        for (const candidate of open.get(appearance.lookAlike) ?? []) {
          const isFree = candidate !== id && !taken.has(candidate);
          const rejection = isFree ? await read(account, candidate) : null;
          if (rejection === null || !mayAnswer(appearance, rejection)) continue;
          taken.add(candidate);
          return rejection;
        }
        return null;
      }

      async function joinedTo({ id, appearance }: FilingCommit): Promise<FilingCommit | null> {
        const rejection = appearance === undefined ? null : await answered(id, appearance);
        if (rejection !== null) return answerCommit(place, rejection, id, at);
        const left = former[removed.indexOf(id)] ?? null;
        const freed = left === null ? null : await read(account, left);
        return freed?.stored.state.answeredBy === id ? answerCommit(place, freed, null, at) : null;
      }

      const all: FilingCommit[] = [];
      for (const commit of commits) {
        const joined = await joinedTo(commit);
        all.push(joined === null ? commit : { ...commit, joined });
      }
      return all;
    },
  };
}

/**
 * The commit by which a filing answers a rejection, or with null none does any more, as of `at` (milliseconds
 * on Redis's clock). Pure.
 */
export function answerCommit(
  place: SnapshotPlace,
  rejection: StoredFiling,
  answeredBy: string | null,
  at: number,
): FilingCommit {
  const { state } = rejection.stored;
  const { answeredBy: _former, ...open } = state;
  const next = answeredBy === null ? open : { ...open, answeredBy };
  return commitUnread(
    place,
    rejection,
    next,
    { type: answerType, notBefore: Math.min(state.readAt, at) },
    at,
  );
}

/**
 * The commit of an event that no read of the filing has led to, with the state that it leads to, as of `at`
 * (milliseconds on Redis's clock). Pure.
 */
export function commitUnread(
  { account, generation }: SnapshotPlace,
  { id, stored, ...shown }: StoredFiling,
  state: FilingState,
  report: Pick<FilingChange, 'type' | 'notBefore' | 'note'>,
  at: number,
): FilingCommit {
  const before = stored.state;
  const next = { ...state, ...stayMarks(state), sequence: before.sequence + 1 };
  const event = buildFilingEvent({
    ...report,
    account,
    generation,
    filingId: id,
    sequence: next.sequence,
    before,
    after: next,
    changed: [],
    inferred: false,
    notAfter: at,
    document: null,
    ...shown,
  });
  return { id, previous: stored, next, details: 'kept', event };
}

// A filing that was created before the rejected one is no correction of it.
function mayAnswer({ lookAlike, createdAt }: Appearance, { stored, details }: StoredFiling): boolean {
  const { state } = stored;
  return isOpenRejection(state) && state.lookAlike === lookAlike && createdAtOf(details) <= createdAt;
}

function isRemoval({ previous, next }: FilingCommit): boolean {
  return next.removed && previous !== null && !previous.state.removed;
}
