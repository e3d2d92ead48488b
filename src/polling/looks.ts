import { setTimeout as delay } from 'node:timers/promises';
import type { SnapshotStore } from '../filings/snapshot-store.ts';
import type { PartnerClient } from '../partner/partner-client.ts';
import { PartnerError } from '../partner/partner-error.ts';
import type { PartnerConnection } from './partner-connections.ts';
import type { EndedPoll, PolledAccount } from './poll.ts';
import {
  changeOf,
  isWholeList,
  looksToRest,
  lookedFor,
  lookQuery,
  sightOf,
  trustAfter,
  untried,
  type Change,
  type Sight,
  type Trust,
} from './sight.ts';

/** One look, for the log: the change that it found, null for none, or the failure of its request. */
export interface LookReport {
  readonly account: string;
  readonly change: Change | null;
  readonly failure?: string;
}

/**
 * Looks at accounts between their polls, with one request each: a change brings the next poll forward. Looks
 * write nothing, and prove nothing. They are timers of the process that made the account's last poll, at most
 * until the next one is due; a crash loses them until then.
 */
export type Looks = ReturnType<typeof createLooks>;

export interface LooksDeps {
  /** Milliseconds between two looks; null for a third of the account's poll interval. */
  readonly lookMs: number | null;
  readonly snapshot: Pick<SnapshotStore, 'counts'>;
  /** Whether requests wait for their turn at the host: no look is made then. */
  readonly isHostBusy: () => boolean;
  /** Polls an account as soon as possible, once. */
  readonly pollNow: (account: string) => Promise<void>;
  readonly onLook: (report: LookReport) => void;
  readonly onError: (error: Error) => void;
}

// Minimum milliseconds between two looks if the interval is not set.
const lookMsMin = 1_000;
// Milliseconds for each account that is looked at: a process makes fifty looks a second at most.
const shareMs = 20;

/** The knowledge of a process about an account, from looks and polls. */
interface Memory {
  sight: Sight | null;
  trust: Trust;
  /** Number of looks to leave out. */
  rests: number;
  /** The alarm whose poll has not ended yet. */
  alarm: { readonly of: Sight['of']; readonly change: Change } | null;
}

/** The looks of a process. */
export function createLooks(deps: LooksDeps) {
  const memories = new WeakMap<PartnerConnection, Memory>();
  const underWay = new Map<string, AbortController>();
  let isClosed = false;

  function memoryOf(connection: PartnerConnection): Memory {
    const memory = memories.get(connection) ?? { sight: null, trust: untried, rests: 0, alarm: null };
    memories.set(connection, memory);
    return memory;
  }

  function stop(account: string): void {
    underWay.get(account)?.abort();
    underWay.delete(account);
  }

  async function begin(
    account: PolledAccount,
    connection: PartnerConnection,
    ended: EndedPoll,
    shown: Sight | null,
  ): Promise<void> {
    const everyMs = Math.max(intervalMs(account, deps.lookMs), underWay.size * shareMs);
    if (isClosed || everyMs >= account.pollIntervalMs) return;
    const looking = new AbortController();
    underWay.set(account.account, looking);
    const { signal } = looking;
    const memory = memoryOf(connection);
    try {
      memory.sight = shown ?? (await sightAfter(deps.snapshot, account.account, ended, memory.sight));
      await lookOn(deps, account, connection, memory, { everyMs, signal });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof PartnerError)
        deps.onLook({ account: account.account, change: null, failure: error.message });
      else deps.onError(error as Error);
    } finally {
      if (underWay.get(account.account) === looking) underWay.delete(account.account);
    }
  }

  return {
    /** Ends the looks at an account, as its next poll begins; looks are compared with that poll. */
    poll(account: PolledAccount, connection: PartnerConnection) {
      stop(account.account);
      let shown: Sight | null = null;
      return {
        /** The same client, which remembers what the poll has seen. */
        watching(client: PartnerClient): PartnerClient {
          if (intervalMs(account, deps.lookMs) >= account.pollIntervalMs) return client;
          return watching(client, (sight) => (shown = sight));
        },
        /** Begins looking at the account if the poll was complete. `asked` as in `PollJob`. */
        ended(poll: EndedPoll, asked: boolean) {
          const { outcome, marks } = poll;
          const memory = memoryOf(connection);
          const { alarm } = memory;
          memory.alarm = null;
          if (outcome.kind !== 'complete') return;
          if (alarm !== null && asked) {
            memory.trust = trustAfter(memory.trust, alarm.of, alarm.change, outcome.events);
            memory.rests = looksToRest(memory.trust);
          }
          if (marks.baselined) void begin(account, connection, poll, shown);
        },
      };
    },
    /** Ends the looks at an account that is gone. */
    stop,
    /** Ends all looks, and begins no more. */
    close() {
      isClosed = true;
      for (const account of underWay.keys()) stop(account);
    },
  };
}

// Looks at an account until something has changed, a request fails, or the next poll is due.
async function lookOn(
  deps: LooksDeps,
  { account, pollIntervalMs }: PolledAccount,
  connection: PartnerConnection,
  memory: Memory,
  { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal },
): Promise<void> {
  for (let passedMs = everyMs; passedMs < pollIntervalMs; passedMs += everyMs) {
    await delay(everyMs, undefined, { signal });
    if (memory.rests > 0) memory.rests -= 1;
    else if (!deps.isHostBusy() && (await look(deps, account, connection, memory, signal))) return;
  }
}

// Returns whether something has changed, and the account is polled for it.
async function look(
  { onLook, pollNow }: LooksDeps,
  account: string,
  { client }: PartnerConnection,
  memory: Memory,
  signal: AbortSignal,
): Promise<boolean> {
  const of = memory.sight?.of ?? 'rejected';
  const { page, release } = await client.listFilings(lookQuery(of), signal);
  release();
  signal.throwIfAborted();
  const sight = sightOf(of, page);
  const change = changeOf(memory.sight, sight, memory.trust);
  memory.sight = sight;
  onLook({ account, change });
  if (change === null) return false;
  memory.alarm = { of, change };
  await pollNow(account);
  return true;
}

// The number of filings known to be REJECTED, if the poll's counts agreed with the service's.
async function sightAfter(
  snapshot: LooksDeps['snapshot'],
  account: string,
  { marks }: EndedPoll,
  before: Sight | null,
): Promise<Sight | null> {
  if (marks.countedAt !== marks.lastPollAt) return before?.of === 'rejected' ? before : null;
  const counts = await snapshot.counts(account);
  return { of: 'rejected', total: counts[lookedFor] ?? 0, rows: null };
}

/** The same client, which also reports the whole list if one page shows it. */
function watching(client: PartnerClient, onSight: (sight: Sight) => void): PartnerClient {
  return {
    ...client,
    async listFilings(query, signal) {
      const answer = await client.listFilings(query, signal);
      if (isWholeList(query, answer.page)) onSight(sightOf('all', answer.page));
      return answer;
    },
  };
}

function intervalMs({ pollIntervalMs }: PolledAccount, lookMs: number | null): number {
  return lookMs ?? Math.max(lookMsMin, Math.ceil(pollIntervalMs / 3));
}
