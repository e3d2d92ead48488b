import type { Parts } from '../../../src/daemon/parts.ts';
import { decideCommit, type FilingCommit } from '../../../src/filings/detection/decide-commit.ts';
import { encodeState } from '../../../src/filings/detection/filing-state.ts';
import { parseFiling } from '../../../src/partner/filing-schema.ts';
import { bookFilingId, bookFilingText, bookStatus } from './partner-book.ts';

/** An account whose filings are those of a benchmark's partner service. */
export interface LoadedAccount {
  readonly account: string;
  readonly filings: number;
  /** Number of filings that are UNPAID, PAID or PENDING. */
  readonly unsettled: number;
}

const fieldsAtOnce = 1_000;
const commitsAtOnce = 2_000;
const pipelines = 4;

/**
 * Leaves an account as the poll of a baseline leaves it, without the partner service: the filings that it
 * keeps details of through detection and the snapshot store, the COMPLETED ones, of which nothing but the
 * state is kept, straight into their hash and their count. The account has to exist; nothing is announced.
 */
export async function loadFilings(
  { redis, keys, stores }: Pick<Parts, 'redis' | 'keys' | 'stores'>,
  { account, filings, unsettled }: LoadedAccount,
): Promise<void> {
  const { incarnation = '' } = (await stores.accounts.get(account)) ?? {};
  const { generation } = await stores.polling.begin(account, incarnation);
  const key = keys.account(account);
  const at = Date.now();
  const workers: Promise<unknown>[] = [];
  let [completed, fields, commits]: [number, string[], FilingCommit[]] = [0, [], []];
  for (let number = 0; number < filings; number += 1) {
    if (bookStatus(number, unsettled) === 'COMPLETED') {
      fields.push(bookFilingId(number), completedState(number, at));
      completed += 1;
    } else commits.push(commitOf(account, generation, number, unsettled, at));
    const isLast = number + 1 === filings;
    if (fields.length >= 2 * fieldsAtOnce || (isLast && fields.length > 0)) {
      workers.push(redis.hset(key.filings, ...fields));
      fields = [];
    }
    if (commits.length >= commitsAtOnce || (isLast && commits.length > 0)) {
      workers.push(stores.snapshot.commit(account, generation, commits, at));
      commits = [];
    }
    // oxlint-disable-next-line no-await-in-loop
    if (workers.length >= pipelines) await workers.shift();
  }
  await Promise.all(workers);
  if (completed > 0) await redis.hincrby(key.counts, 'COMPLETED', completed);
  const polled = {
    baselined: true,
    baselinedAt: at,
    lastPollAt: at,
    lastCompletePollAt: at,
    lastCompleteEndAt: at,
    lastSweepAt: at,
    sweepTriedAt: at,
  };
  const seen = { unsettledSeenAt: at, allSeenAt: at, bornSeenAt: at, countedAt: at };
  await stores.polling.write(account, generation, { ...polled, ...seen }, 0);
}

// The document need not be parsed: nothing of it is kept.
function completedState(number: number, at: number): string {
  const completedAt = new Date(1.75e12 + number * 1_000).toISOString();
  return encodeState({
    status: 'COMPLETED',
    completedAt,
    rejectionReason: null,
    sequence: 0,
    since: at,
    readFrom: at,
    readAt: at,
    removed: false,
  });
}

function commitOf(
  account: string,
  generation: string,
  number: number,
  unsettled: number,
  at: number,
): FilingCommit {
  const filing = parseFiling(() => bookFilingText(number, bookStatus(number, unsettled)));
  const context = {
    account,
    generation,
    announces: () => false,
    notBefore: () => 0,
    filingBytesMax: Infinity,
    deadlines: { limits: new Map(), due: null },
    late: new Map(),
  };
  const decision = decideCommit(context, { id: bookFilingId(number), filing }, null, { start: at, end: at });
  if (decision.kind !== 'commit') throw new Error(`filing ${number} is not new: ${decision.kind}`);
  return decision.commit;
}
