import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Account } from '../../../src/accounts/account.ts';
import type { Clock } from '../../../src/redis/clock.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { startProcess, superviseProcess, type YearAccount } from './process.ts';

const redis = testRedis();
let partner: HostilePartner;
beforeAll(async () => {
  partner = await startHostilePartner();
});
afterAll(async () => {
  await partner[Symbol.asyncDispose]();
  await redis.cleanup();
});

const dayMs = 86_400_000;
const first = Date.UTC(2037, 0, 1);
const fields = {
  policyEffectiveDate: new Date(first).toISOString(),
  createdAt: new Date(first).toISOString(),
  policyNumber: 'SL-1',
};
const settings: Account = {
  account: 'acme',
  incarnation: '',
  baseUrl: '',
  pollIntervalMs: dayMs,
  sweepIntervalMs: dayMs,
  stalledAfter: { REJECTED: 'P20D' },
  digest: { at: '08:00', zone: 'America/Chicago', days: 'daily' },
  due: { TX: 'P30D' },
  dueWarnings: null,
  createdAt: first,
  updatedAt: first,
};
let lives = 0;

/** What the log has after notes, answers, deadlines and a digest under a process that is killed at a write. */
async function live(killedAt: number, at: 'request' | 'reply') {
  lives += 1;
  const prefix = `${redis.prefix}${lives}-`;
  let now = first;
  const clock: Clock = { now: () => (now += 1), steadySince: () => 0, synchronise: async () => undefined };
  await using daemon = await superviseProcess(redis.url, prefix, clock);
  using witness = await startProcess(redis.url, prefix, clock);
  const account: YearAccount = { settings, partner };
  const poll = () => daemon.persist(async (living) => (await living.watch(account)).poll('sweep'));
  partner.rows = [
    partnerRow('old', 'REJECTED', fields),
    partnerRow('left', 'REJECTED', { ...fields, policyNumber: 'SL-2' }),
  ];
  await poll();
  let writes = 0;
  daemon.cut = {
    at,
    isMetBy: (sent) => /evalsha|hset|xadd|zadd/i.test(sent.toString('latin1')) && (writes += 1) === killedAt,
  };
  await daemon.persist((living) => living.note(account, 'left', { kind: 'seen', by: 'Dana', text: 'asked' }));
  now = first + 24 * dayMs + 15 * 3_600_000;
  partner.put('new', { ...fields, id: 'new', createdAt: new Date(now).toISOString() });
  // The first poll shows what has changed, each of the others one deadline of each filing.
  for (let polls = 0; polls < 3; polls += 1) await poll();
  await daemon.persist((living) => living.lookAtDigest(account));
  const watched = await witness.watch(account);
  const events = (await watched.events()).map(({ type, filingId, sequence }) =>
    type === 'account.digest' ? type : `${filingId} ${sequence} ${type}`,
  );
  const board = await watched.filings.count({ account: 'acme', status: 'REJECTED' });
  const [left] = await watched.filings.getAll('acme', ['left']);
  return {
    kills: daemon.kills(),
    result: { events: events.toSorted(), board, seen: left?.seen?.by },
  };
}

it.each(['request', 'reply'] as const)(
  'killed at the %s of each write, it notes, answers, warns and sums up exactly once',
  async (at) => {
    const undisturbed = await live(Infinity, at);
    expect(undisturbed.result).toEqual({
      events: [
        'account.digest',
        'left 1 filing.noted',
        'left 2 filing.stalled',
        'left 3 filing.due',
        'new 1 filing.created',
        'new 2 filing.due',
        'old 1 filing.resubmitted',
      ],
      board: 1,
      seen: 'Dana',
    });
    let kills = 0;
    for (let write = 1; ; write += 1) {
      const disturbed = await live(write, at);
      expect(disturbed.result, `killed at write ${write}`).toEqual(undisturbed.result);
      kills += disturbed.kills;
      if (disturbed.kills === 0) break;
    }
    expect(kills).toBeGreaterThan(5);
  },
  120_000,
);
