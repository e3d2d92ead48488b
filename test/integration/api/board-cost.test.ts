import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createRejectingAccounts } from '../../../src/filings/rejecting-accounts.ts';
import { accountInput, createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';
import { rowsRead } from '../../support/redis/rows-read.ts';
import { startPrivateRedis } from '../../support/redis/test-redis.ts';

interface Board {
  readonly items: readonly { readonly account: string; readonly filingId: string }[];
  readonly total: number;
  readonly accounts: readonly { readonly account: string; readonly health: string }[];
  readonly accountsTotal: number;
}

async function stage(work: (api: ApiFixture, client: Redis) => Promise<void>): Promise<void> {
  await using server = await startPrivateRedis();
  const client = new Redis(server.url);
  const api = await createApiFixture(client, 'board');
  try {
    await work(api, client);
  } finally {
    await api.app.close();
    client.disconnect();
  }
}

const board = async (api: ApiFixture, query = '') =>
  (await api.ok('GET', `/v1/rejections${query}`)) as unknown as Board;
const idsOf = ({ items }: Board) => items.map(({ account, filingId }) => `${account}/${filingId}`);
const nameOf = (i: number) => `n${String(i).padStart(4, '0')}`;

/** Accounts as they are after a complete poll. */
async function addPolled({ deps, stored }: ApiFixture, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i += 1) {
    const settings = { ...accountInput, pollIntervalMs: null, sweepIntervalMs: null };
    await deps.accounts.put(nameOf(i), settings, Date.now());
    await stored.of(nameOf(i)).completePoll('g');
    await deps.unsound.note(nameOf(i), Date.now() + 60_000);
  }
}

test('the board costs as much beside many accounts without rejections as beside few', () =>
  stage(async (api, client) => {
    const costs: number[] = [];
    for (const [from, to] of [
      [0, 250],
      [250, 500],
    ] as const) {
      await addPolled(api, from, to);
      if (from === 0)
        await api.putFilings(nameOf(7), [{ id: 'f_1', status: 'REJECTED', type: 'filing.rejected' }]);
      await board(api);
      const { result, commands } = await rowsRead(client, () => board(api));
      expect(idsOf(result)).toEqual([`${nameOf(7)}/f_1`]);
      expect([result.accounts.length, result.accountsTotal]).toEqual([200, to]);
      costs.push(commands);
    }
    expect(costs[1]).toBe(costs[0]);
    // Four for each account that is shown.
    expect(costs[0]).toBeLessThan(850);
  }));

test('of many accounts those that are not ok come first, also where nothing polls them any more', () =>
  stage(async (api) => {
    await addPolled(api, 0, 230);
    await api.deps.polling.correct(nameOf(225), 'g', { authFailed: true });
    await api.deps.unsound.note(nameOf(225), 0);
    // Not polled for longer than it is stale after.
    await api.stored.of(nameOf(228)).completePoll('g', 1);
    const { [nameOf(228)]: text = '' } = await api.stored.accountTexts();
    await api.stored.setAccount(nameOf(228), JSON.stringify({ ...JSON.parse(text), createdAt: 1 }));
    await api.deps.unsound.note(nameOf(228), Date.now() - 1);
    const { accounts } = await board(api);
    expect(accounts.slice(0, 2)).toMatchObject([
      { account: nameOf(225), health: 'auth_failed' },
      { account: nameOf(228), health: 'stale' },
    ]);
    expect(accounts).toHaveLength(200);
    await api.deps.polling.correct(nameOf(225), 'g', { authFailed: false });
    expect((await board(api)).accounts.slice(0, 2)).toMatchObject([
      { account: nameOf(228), health: 'stale' },
      { account: nameOf(0), health: 'ok' },
    ]);
  }));

test('pages go through accounts in the order of their oldest rejections, and open no others', () =>
  stage(async (api) => {
    await addPolled(api, 0, 130);
    const expected: string[] = [];
    for (let i = 129; i >= 0; i -= 1) {
      await api.putFilings(nameOf(i), [{ id: 'f_1', status: 'REJECTED', type: 'filing.rejected' }]);
      const from = Date.now();
      await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(from);
      expected.push(`${nameOf(i)}/f_1`);
    }
    for (const order of ['oldest', 'newest']) {
      const { items } = await api.listAll<Board['items'][number]>('/v1/rejections', { order, limit: '7' });
      const found = items.map(({ account, filingId }) => `${account}/${filingId}`);
      expect(found).toEqual(order === 'oldest' ? expected : expected.toReversed());
    }
  }));

test('an account that no list names is found again, and an announced one that was never written does no harm', () =>
  stage(async (api, client) => {
    await addPolled(api, 0, 2);
    await api.putFilings(nameOf(0), [{ id: 'f_1', status: 'REJECTED', type: 'filing.rejected' }]);
    await api.stored.addRejecting(nameOf(1));
    expect(idsOf(await board(api))).toEqual([`${nameOf(0)}/f_1`]);
    await api.stored.dropRejecting();
    expect(idsOf(await board(api))).toEqual([]);
    const index = createRejectingAccounts(client, api.keys);
    const mend = (i: number) => index.mend(nameOf(i), Date.now());
    for (const i of [0, 1]) await mend(i);
    expect(idsOf(await board(api))).toEqual([`${nameOf(0)}/f_1`]);
    expect(await index.all()).toEqual([nameOf(0)]);

    await api.putFilings(nameOf(0), [{ id: 'f_1', status: 'PENDING', type: 'filing.pending' }]);
    // It may be announced again by a commit that is under way.
    await mend(0);
    expect(await index.all()).toEqual([nameOf(0)]);
    await index.mend(nameOf(0), Date.now() + 600_000);
    expect(await index.all()).toEqual([]);
    await api.putFilings(nameOf(0), [{ id: 'f_1', status: 'REJECTED', type: 'filing.rejected' }]);
    const { commands } = await rowsRead(client, () => mend(0));
    expect([await index.all(), commands]).toEqual([[nameOf(0)], 2]);
  }));

test('a poll that is under way when its account is removed leaves no note of its rejections', () =>
  stage(async (api, client) => {
    await addPolled(api, 0, 2);
    await api.deps.accounts.remove(nameOf(0));
    const fields = { status: 'REJECTED', completedAt: null, rejectionReason: null, removed: false };
    const next = { ...fields, sequence: 0, since: 5, readFrom: 5, readAt: 5 };
    const commit = { id: 'f_1', previous: null, next, details: null, event: null };
    for (const i of [0, 1])
      await api.deps.snapshot.commit(nameOf(i), 'g', [commit], 5).catch(() => undefined);
    expect(await createRejectingAccounts(client, api.keys).all()).toEqual([nameOf(1)]);
  }));
