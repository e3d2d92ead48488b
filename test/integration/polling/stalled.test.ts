import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { watchAccount, type SeenEvent, type WatchedAccount } from '../../support/partner/watched-account.ts';
import { noteFilings } from '../../../src/filings/note-filings.ts';
import type { Account } from '../../../src/accounts/account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

let partner: HostilePartner;
let tests = 0;
beforeEach(async () => {
  tests += 1;
  partner = await startHostilePartner();
});
afterEach(() => partner[Symbol.asyncDispose]());

const limitMs = 60;
const limit = 'PT0.06S';

async function watch(stalledAfter: Account['stalledAfter'] = { PENDING: limit }) {
  const options = { retries: false, stalledAfter };
  const watched = await watchAccount(client, `${redis.prefix}${tests}`, partner, options);
  await watched.poll();
  return watched;
}

// Polls until the limit is over for everything that is known by now, and once more.
async function pollBeyond(watched: WatchedAccount): Promise<SeenEvent[]> {
  const before = (await watched.events()).length;
  await watched.poll();
  const over = watched.clock.now() + limitMs + 1;
  while (watched.clock.now() <= over) await watched.poll();
  await watched.pollFor();
  return (await watched.events()).slice(before);
}

it('is reported once, with the document, the time of entry and the next sequence', async () => {
  partner.rows = [partnerRow('a', 'PAID')];
  const watched = await watch();
  partner.put('a', { status: 'PENDING' });
  const events = await pollBeyond(watched);
  expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
    ['filing.pending', 1],
    ['filing.stalled', 2],
  ]);
  expect(events[1]).toMatchObject({
    filingId: 'a',
    status: 'PENDING',
    previousStatus: 'PENDING',
    changed: [],
    filing: { id: 'a', status: 'PENDING' },
    stalled: { status: 'PENDING', since: new Date(events[0]?.notAfter ?? 0).toISOString(), after: limit },
  });
  expect(await pollBeyond(watched)).toEqual([]);
});

it('is reported once by all processes and after each restart', async () => {
  partner.rows = [partnerRow('a', 'PENDING')];
  const [first, second] = [await watch(), await watch()];
  for (const each of [first, second]) await pollBeyond(each);
  expect((await first.events()).map(({ type }) => type)).toEqual(['filing.stalled']);
  expect(await pollBeyond(await watch())).toEqual([]);
});

it('is reported again for the next stay, and for another limit of the same stay', async () => {
  partner.rows = [partnerRow('a', 'PENDING')];
  const watched = await watch();
  await pollBeyond(watched);
  await pollBeyond(await watch({ PENDING: 'PT0.09S' }));
  // The former limit was reported already.
  await pollBeyond(await watch());
  const limits = (await watched.events()).map(({ stalled }) => (stalled as { after: string }).after);
  expect(limits).toEqual([limit, 'PT0.09S']);
  partner.put('a', { status: 'REJECTED' });
  await watched.poll('sweep');
  partner.put('a', { status: 'PENDING' });
  expect((await pollBeyond(watched)).map(({ type }) => type)).toEqual(['filing.pending', 'filing.stalled']);
});

it('is reported of a settled filing after a look at it alone, unless that shows a change', async () => {
  partner.rows = [partnerRow('a', 'REJECTED'), partnerRow('b', 'REJECTED')];
  const watched = await watch({ REJECTED: limit });
  partner.put('b', { status: 'COMPLETED' });
  const events = await pollBeyond(watched);
  expect(events.map(({ filingId, type }) => `${filingId} ${type}`)).toHaveLength(2);
  expect(Object.fromEntries(events.map(({ filingId, type }) => [filingId, type]))).toEqual({
    a: 'filing.stalled',
    b: 'filing.completed',
  });
});

it.each([
  ['the key is refused', { status: 401 }],
  ['the service fails', { status: 500 }],
])('is not reported while %s, and afterwards where it is still so', async (_, odd) => {
  partner.rows = [partnerRow('a', 'PENDING'), partnerRow('b', 'PENDING')];
  const watched = await watch();
  partner.misbehave = () => odd;
  const types = (events: readonly SeenEvent[]) => events.map(({ type }) => type);
  expect(types(await pollBeyond(watched))).not.toContain('filing.stalled');
  partner.put('b', { status: 'COMPLETED' });
  partner.misbehave = () => undefined;
  const events = await pollBeyond(watched);
  expect(types(events.filter(({ filingId }) => filingId === 'a'))).toEqual(['filing.stalled']);
  expect(types(events.filter(({ filingId }) => filingId === 'b'))).toEqual(['filing.completed']);
});

it('says whether somebody has seen it, and is not reported of what was seen where the limit says so', async () => {
  partner.rows = [partnerRow('a', 'REJECTED'), partnerRow('b', 'REJECTED')];
  const watched = await watch({ REJECTED: { after: limit, unless: 'seen' } });
  const deps = { ...watched, now: watched.clock.now };
  const seen = { kind: 'seen', by: 'Dana', text: null } as const;
  await noteFilings(deps, watched.account, ['a'], seen);
  const reported = (events: readonly SeenEvent[]) =>
    events.flatMap(({ type, filingId, stalled }) => (type === 'filing.stalled' ? { filingId, stalled } : []));
  expect(reported(await pollBeyond(watched))).toMatchObject([{ filingId: 'b', stalled: { seen: false } }]);
  await noteFilings(deps, watched.account, ['a'], { kind: 'undone', by: 'Dana' });
  // As a process that has not looked at it yet.
  const again = await watch({ REJECTED: { after: limit, unless: 'seen' } });
  expect(reported(await again.events())).toMatchObject([{ filingId: 'b' }, { filingId: 'a' }]);
  await noteFilings(deps, watched.account, ['a'], seen);
  await pollBeyond(await watch({ REJECTED: 'PT0.09S' }));
  const stalled = reported(await watched.events()).map((each) => each.stalled);
  expect(stalled.slice(2)).toMatchObject([{ seen: true }, { seen: false }]);
});
