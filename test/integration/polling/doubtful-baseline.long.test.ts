import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount, type SeenEvent, type WatchedAccount } from '../../support/partner/watched-account.ts';

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

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    partnerRow(`f${i}`, ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED'][i % 5]),
  );
const created = (events: readonly SeenEvent[]) =>
  events.filter(({ type }) => type === 'filing.created').map(({ filingId }) => filingId);

// As of this offset the list of all filings is empty, whatever it counts.
const endListsAt = (end: number, edit: object = {}) => {
  partner.misbehave = ({ status, offset }) =>
    status === null
      ? {
          edit: (page) => ({
            ...page,
            items: (page.items as unknown[]).slice(0, Math.max(0, end - offset)),
            ...(offset >= end ? edit : {}),
          }),
        }
      : undefined;
};

async function polls(watched: WatchedAccount, count: number): Promise<void> {
  for (let poll = 0; poll < count; poll += 1) await watched.poll(poll % 3 === 2 ? 'sweep' : 'delta');
}

describe.each([
  ['polled by delta', 1],
  ['polled by full reads', 1000],
])('a list of 450 that ends early for as long as the baseline takes, %s', (_title, largeFrom) => {
  const watch = () => watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false, largeFrom });

  it.each([
    ['at a full page', 200, {}],
    ['before its first filing', 0, {}],
    ['within a page', 230, {}],
    ['with a count of 0 on the page that is empty', 200, { total: 0 }],
    ['with a count of what was shown on the page that is empty', 200, { total: 200 }],
  ])('%s: what it hid is taken in silently when it is mended', async (_how, end, edit) => {
    partner.rows = rowsOf(450);
    endListsAt(end, edit);
    const watched = await watch();
    await polls(watched, 6);
    partner.misbehave = () => undefined;
    await polls(watched, 3);
    expect(await watched.events()).toEqual([]);
    expect(await watched.snapshot.known('acme')).toBe(450);
    expect(await watched.polling.read('acme')).toMatchObject({ baselined: true });
    partner.put('new', { status: 'PAID' });
    await polls(watched, 3);
    expect(created(await watched.events())).toEqual(['new']);
  });

  it('is mended page by page', async () => {
    partner.rows = rowsOf(450);
    endListsAt(100);
    const watched = await watch();
    for (const end of [100, 200, 300, 450]) {
      endListsAt(end);
      await polls(watched, 6);
    }
    expect(await watched.events()).toEqual([]);
    expect(await watched.snapshot.known('acme')).toBe(450);
  });

  it('does not hide filings born meanwhile, before, with or after its mending', async () => {
    partner.rows = rowsOf(450);
    endListsAt(200);
    const watched = await watch();
    await polls(watched, 6);
    const birth = (id: string) => partner.put(id, { status: 'PENDING', createdAt: new Date().toISOString() });
    birth('before');
    await polls(watched, 3);
    birth('with');
    partner.misbehave = () => undefined;
    await polls(watched, 3);
    birth('after');
    await polls(watched, 3);
    expect(created(await watched.events())).toEqual(['before', 'with', 'after']);
  });

  it('does not hide filings born meanwhile when only the count tells them from the hidden ones', async () => {
    partner.rows = rowsOf(450);
    endListsAt(200);
    const watched = await watch();
    await polls(watched, 6);
    for (const id of ['new1', 'new2']) {
      partner.put(id, { status: 'PENDING' });
      await polls(watched, 3);
    }
    expect(created(await watched.events())).toEqual(['new1', 'new2']);
    partner.misbehave = () => undefined;
    await polls(watched, 3);
    expect(created(await watched.events())).toEqual(['new1', 'new2']);
  });

  it('never counted right: as many births as it counted too many are not lost once it does', async () => {
    partner.rows = rowsOf(120);
    partner.misbehave = () => ({ edit: (page) => ({ ...page, total: Number(page.total) + 7 }) });
    const watched = await watch();
    await polls(watched, 6);
    partner.misbehave = () => undefined;
    await polls(watched, 3);
    for (const id of ['new1', 'new2', 'new3']) {
      partner.put(id, { status: 'PENDING' });
      await polls(watched, 3);
    }
    expect(created(await watched.events())).toEqual(['new1', 'new2', 'new3']);
  });
});
