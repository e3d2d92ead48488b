import { expect, vi } from 'vitest';
import { buildFilingEvent } from '../../../../src/events/event.ts';
import { toDetails } from '../../../../src/filings/detection/filing-details.ts';
import { isInIndex } from '../../../../src/filings/detection/age-rank.ts';
import { createRandom } from '../../../../src/sandbox/random.ts';
import type { Harness } from '../drain-harness.ts';

const generation = 'g';
const details = toDetails({
  policyNumber: 'SL-1',
  insuredsName: 'Ö',
  filingState: { stateAbbr: 'TX' },
  premium: 7,
});

/** The filings of a harness's account, committed as a poll does. */
export function createFilings({ account, stored, snapshot, subscriptions, log, waker }: Harness) {
  const begun = stored.begin(generation);

  /** Puts these filings into a status: known from the baseline, without events, or with one event each. */
  async function put(status: string, ids: readonly string[], withEvents: boolean): Promise<void> {
    await begun;
    const found = await snapshot.read(account, ids);
    const commits = ids.map((id, i) => {
      const previous = found[i] ?? null;
      const before = previous?.state ?? null;
      const sequence = (before?.sequence ?? 0) + (withEvents ? 1 : 0);
      const at = 1_700_000_000_000 + sequence;
      const shown = { status, completedAt: null, rejectionReason: null, removed: status === '' };
      const next = { ...shown, sequence, since: at, readFrom: at - 1, readAt: at };
      const event = buildFilingEvent({
        account,
        generation,
        filingId: id,
        type: `filing.${status.toLowerCase()}`,
        sequence,
        before,
        after: next,
        changed: ['status'],
        inferred: false,
        notBefore: at - 2,
        notAfter: at,
        document: { id, status, premium: 7, filingState: { stateAbbr: 'TX' } },
      });
      const kept = isInIndex(next) ? details : null;
      return { id, previous, next, details: kept, event: withEvents ? event : null };
    });
    const results = await snapshot.commit(account, generation, commits, Date.now());
    if (results.some(({ kind }) => kind !== 'written')) throw new Error('a filing was not written');
    if (!withEvents) return;
    await waker.wake(account);
  }

  async function unread(subscription: string): Promise<number> {
    const record = await subscriptions.get(account, subscription);
    return (await log.head(account)).position - (record?.delivery.cursor ?? 0);
  }

  return {
    baseline: (status: string, ids: readonly string[]) => put(status, ids, false),
    change: (status: string, ids: readonly string[]) => put(status, ids, true),
    /** Changes some of these filings at random, again and again, as fast as a subscription takes it. */
    async keepChanging(
      subscription: string,
      ids: readonly string[],
      until: AbortSignal,
      atOnce = 20,
    ): Promise<void> {
      const random = createRandom(7);
      const statuses = ['UNPAID', 'PAID', 'PENDING', 'REJECTED', 'COMPLETED'];
      while (!until.aborted) {
        await vi.waitFor(async () => expect(await unread(subscription)).toBeLessThan(atOnce), 20_000);
        const some = new Set(
          Array.from({ length: atOnce }, () => ids[Math.floor(random() * ids.length)] ?? ''),
        );
        await put(statuses[Math.floor(random() * statuses.length)] ?? 'PAID', [...some], true);
      }
    },
    /** Sequence and status of each filing, as stored. */
    async truth(ids: readonly string[]): Promise<Map<string, string>> {
      const found = await snapshot.read(account, ids);
      return new Map(
        ids.map((id, i) => [id, `${String(found[i]?.state.sequence)} ${String(found[i]?.state.status)}`]),
      );
    },
  };
}
