import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount, type SeenEvent, type WatchedAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
let tests = 0;

interface Scene {
  readonly partner: HostilePartner;
  readonly watched: WatchedAccount;
}

let partner: HostilePartner;
beforeEach(async () => {
  partner = await startHostilePartner();
  return async () => partner[Symbol.asyncDispose]();
});

async function baselined(rows: ReturnType<typeof partnerRow>[], largeFrom = 1): Promise<Scene> {
  tests += 1;
  partner.rows = rows;
  const watched = await watchAccount(client, `${redis.prefix}${tests}`, partner, { largeFrom });
  const outcome = await watched.poll();
  expect(outcome).toMatchObject({ kind: 'complete', mode: 'sweep', events: 0 });
  expect(await watched.polling.read('acme')).toMatchObject({ baselined: true });
  return { partner, watched };
}

const brief = ({ type, status, previousStatus, sequence }: SeenEvent) => [
  type,
  previousStatus,
  status,
  sequence,
];

// In an account this large a delta poll reads lists; in a small one it reads everything.
describe.each([
  ['by a delta poll', 1],
  ['by a full poll', 1000],
])('%s', (_name, largeFrom) => {
  it('announces nothing of the baseline and a filing that is new after it', async () => {
    const { watched } = await baselined([partnerRow('a'), partnerRow('b', 'COMPLETED')], largeFrom);
    expect(await watched.pollFor()).toEqual([]);
    partner.put('c', { status: 'PAID' });
    const [event, ...others] = await watched.pollFor();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'filing.created',
      filingId: 'c',
      status: 'PAID',
      previousStatus: null,
    });
    expect(event).toMatchObject({ sequence: 1, inferred: false, filing: partner.rows[0] });
    expect(await watched.pollFor()).toEqual([]);
  });

  it('follows a filing through its life, one event for each change, gapless', async () => {
    const { watched } = await baselined([partnerRow('a')], largeFrom);
    const events: SeenEvent[] = [];
    const steps = [
      { status: 'PAID' },
      { status: 'PENDING' },
      { status: 'REJECTED', rejectionReason: 'unsigned' },
      { status: 'PENDING', rejectionReason: null },
      { status: 'COMPLETED', completedAt: '2026-03-01T00:00:00Z' },
      { status: 'PENDING', completedAt: null },
      { status: 'ON_HOLD' },
      { status: 'UNPAID' },
    ];
    for (const step of steps) {
      partner.put('a', step);
      events.push(...(await watched.pollFor()));
    }
    expect(events.map(brief)).toEqual([
      ['filing.paid', 'UNPAID', 'PAID', 1],
      ['filing.pending', 'PAID', 'PENDING', 2],
      ['filing.rejected', 'PENDING', 'REJECTED', 3],
      ['filing.pending', 'REJECTED', 'PENDING', 4],
      ['filing.completed', 'PENDING', 'COMPLETED', 5],
      ['filing.reopened', 'COMPLETED', 'PENDING', 6],
      ['filing.status_changed', 'PENDING', 'ON_HOLD', 7],
      ['filing.unpaid', 'ON_HOLD', 'UNPAID', 8],
    ]);
    expect(events[2]?.rejectionReason).toBe('unsigned');
    expect(events[2]?.changed).toEqual(['status', 'rejectionReason']);
  });

  it('announces a filing born COMPLETED within two polls', async () => {
    const { watched } = await baselined(many(150, 'COMPLETED'), largeFrom);
    partner.rows.splice(75, 0, partnerRow('born', 'COMPLETED'));
    const events = [...(await watched.pollFor()), ...(await watched.pollFor())];
    expect(events.map(brief)).toEqual([['filing.created', null, 'COMPLETED', 1]]);
  });

  it('sees COMPLETED become REJECTED within two polls, without a sweep', async () => {
    const { watched } = await baselined(many(150, 'COMPLETED'), largeFrom);
    partner.put('f70', { status: 'REJECTED', rejectionReason: 'late' });
    const events = [...(await watched.pollFor()), ...(await watched.pollFor())];
    expect(events.map(brief)).toEqual([['filing.rejected', 'COMPLETED', 'REJECTED', 1]]);
  });

  it('sees REJECTED become COMPLETED within two polls', async () => {
    const { watched } = await baselined(many(150, 'REJECTED'), largeFrom);
    partner.put('f70', { status: 'COMPLETED', completedAt: '2026-03-01T00:00:00Z' });
    const events = [...(await watched.pollFor()), ...(await watched.pollFor())];
    expect(events.map(brief)).toEqual([['filing.completed', 'REJECTED', 'COMPLETED', 1]]);
  });

  it('removes what answers 404 on two polls, not on one, and restores what comes back', async () => {
    const { watched } = await baselined([partnerRow('a'), partnerRow('b')], largeFrom);
    const gone = partner.rows[0];
    partner.remove('a');
    expect(await watched.pollFor()).toEqual([]);
    expect((await watched.pollFor()).map(brief)).toEqual([['filing.removed', 'UNPAID', 'UNPAID', 1]]);
    expect(await watched.pollFor()).toEqual([]);
    if (gone !== undefined) partner.rows.unshift(gone);
    expect((await watched.pollFor()).map(brief)).toEqual([['filing.restored', 'UNPAID', 'UNPAID', 2]]);
    partner.remove('a');
    await watched.pollFor();
    partner.put('a', { status: 'UNPAID' });
    expect(await watched.pollFor()).toEqual([]);
    partner.remove('a');
    expect(await watched.pollFor()).toEqual([]);
  });
});

describe('a service that contradicts itself', () => {
  it('says since when a filing may have been removed that the same poll shows again', async () => {
    const { watched } = await baselined([partnerRow('a'), partnerRow('b'), partnerRow('c')]);
    const [a] = partner.rows;
    partner.remove('a');
    const removedAt = watched.clock.now();
    await sleep(5);
    expect(await watched.pollFor()).toEqual([]);
    let answers = 0;
    partner.misbehave = ({ endpoint, id }) => {
      if (endpoint === 'filing' && id === 'a') answers += 1;
      else if (answers === 1 && a !== undefined) {
        answers += 1;
        partner.rows.unshift(a);
      }
      return undefined;
    };
    const events = await watched.pollFor();
    expect(answers).toBe(2);
    for (const { notBefore } of events) expect(notBefore).toBeLessThanOrEqual(removedAt);
    expect(events.map(({ type }) => type)).toEqual(['filing.removed']);
    expect(await watched.pollFor()).toMatchObject([{ type: 'filing.restored', filingId: 'a' }]);
  });

  it('removes nothing on the word of a 404 that it gives for every filing, listed or not', async () => {
    const { watched } = await baselined([
      ...many(150, 'COMPLETED'),
      partnerRow('old', 'PENDING'),
      partnerRow('b'),
    ]);
    partner.misbehave = ({ endpoint }) =>
      endpoint === 'filing' ? { status: 404 } : { edit: ({ items }) => ({ items }) };
    partner.put('old', { status: 'COMPLETED' });
    for (let poll = 0; poll < 4; poll += 1) expect(await watched.pollFor()).toEqual([]);
    partner.misbehave = () => undefined;
    await watched.poll('sweep');
    expect((await watched.events()).map(brief)).toEqual([['filing.completed', 'PENDING', 'COMPLETED', 1]]);
  });
});

describe('a service that does not answer for the account', () => {
  it('delays the removal of many filings, and nothing else', async () => {
    const { watched } = await baselined([...many(8, 'UNPAID'), partnerRow('stays')]);
    partner.rows = partner.rows.filter(({ id }) => id === 'stays');
    await watched.poll();
    partner.misbehave = ({ endpoint }) => (endpoint === 'me' ? { status: 500 } : undefined);
    partner.put('stays', { status: 'PAID' });
    expect(await watched.poll()).toMatchObject({ kind: 'complete', events: 1, unread: 8 });
    partner.misbehave = () => undefined;
    expect((await watched.pollFor()).map(({ type }) => type)).toEqual(
      many(8, '').map(() => 'filing.removed'),
    );
  });
});

describe('by a sweep', () => {
  it('tells an unseen round trip from a moved completedAt, and not from a reformatted one', async () => {
    const { watched } = await baselined([
      partnerRow('a', 'COMPLETED', { completedAt: '2026-02-01T10:00:00Z' }),
      partnerRow('b', 'COMPLETED', { completedAt: '2026-02-01T10:00:00Z' }),
      partnerRow('c', 'REJECTED', { rejectionReason: 'x' }),
    ]);
    partner.put('a', { completedAt: '2026-02-01T10:00:00.000+00:00' });
    partner.put('b', { completedAt: '2026-02-02T10:00:00Z' });
    partner.put('c', { rejectionReason: 'y' });
    const events = await watched.pollFor('sweep');
    expect(
      events.map(({ filingId, type, changed, inferred }) => [filingId, type, changed, inferred]),
    ).toEqual([
      ['c', 'filing.rejected', ['rejectionReason'], false],
      ['b', 'filing.completed', ['completedAt'], true],
    ]);
  });
});

function many(count: number, status: string) {
  return Array.from({ length: count }, (_, i) => partnerRow(`f${i}`, status));
}

describe('a service that writes the same otherwise', () => {
  const settled = () =>
    Array.from({ length: 30 }, (_, i) =>
      partnerRow(`f${i}`, i % 3 === 0 ? 'REJECTED' : 'COMPLETED', {
        completedAt: i % 3 === 0 ? null : `2026-11-20T10:00:${10 + i}.482Z`,
        rejectionReason: i % 3 === 0 ? 'not\nsigned' : null,
      }),
    );
  type Write = (at: string | null) => unknown;

  it.each<[string, Write, Write]>([
    ['no fraction', (at) => at?.replace('.482', ''), () => 'not\r\nsigned\r\n'],
    ['hours of the zone only', (at) => at?.replace('T', ' ').replace('Z', '+00'), () => ' not signed'],
    ['milliseconds', (at) => (at === null ? 0 : Date.parse(at)), () => 'not\nsigned\u00a0'],
    ['seconds as a text', (at) => String(at === null ? 0 : Math.floor(Date.parse(at) / 1000)), (why) => why],
    ['zero dates', (at) => at ?? '0001-01-01T00:00:00', (why) => why],
  ])(
    '%s: no event then, nor when it is written as before, and real changes are',
    async (_, write, reason) => {
      const own = settled();
      const { watched } = await baselined(own);
      const rewritten = () =>
        own.map((row) => ({
          ...row,
          completedAt: write(row['completedAt'] as string | null),
          rejectionReason: row['rejectionReason'] === null ? '' : reason('not\nsigned'),
        }));
      partner.rows = rewritten();
      expect(await watched.pollFor('sweep')).toEqual([]);
      partner.rows = own;
      expect(await watched.pollFor('sweep')).toEqual([]);
      partner.rows = rewritten();
      const again = write('2026-11-21T09:00:00.482Z');
      partner.put('f1', { completedAt: again });
      partner.put('f3', { rejectionReason: 'unsigned' });
      // Times alone are weighed at the end of a list.
      expect((await watched.pollFor('sweep')).toReversed()).toEqual([
        expect.objectContaining({
          filingId: 'f1',
          changed: ['completedAt'],
          completedAt: String(again),
          inferred: true,
        }),
        expect.objectContaining({ filingId: 'f3', changed: ['rejectionReason'], inferred: false }),
      ]);
      partner.rows = own;
      partner.put('f1', { completedAt: '2026-11-21T09:00:00.482Z' });
      partner.put('f3', { rejectionReason: 'unsigned' });
      expect(await watched.pollFor('sweep')).toEqual([]);
    },
  );
});
