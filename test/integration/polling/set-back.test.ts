import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { noteFilings } from '../../../src/filings/note-filings.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { rememberKeys } from '../../support/redis/set-back.ts';
import { watchAccount, type SeenEvent, type WatchedAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
let tests = 0;

interface Scene {
  readonly watched: WatchedAccount;
  /** Another daemon, which remembers nothing. */
  readonly other: WatchedAccount;
  /**
   * Sets the account's keys back to where they were when this was opened, as a cluster may: other keys stay.
   */
  readonly setBack: () => Promise<void>;
  /** The same with the keys that a single Redis would set back, too. */
  readonly setAllBack: () => Promise<void>;
}

let partner: HostilePartner;
beforeEach(async () => {
  partner = await startHostilePartner();
  return async () => partner[Symbol.asyncDispose]();
});

async function baselined(largeFrom: number, ...rows: ReturnType<typeof partnerRow>[]): Promise<Scene> {
  tests += 1;
  const prefix = `${redis.prefix}${tests}`;
  partner.rows = rows;
  const watched = await watchAccount(client, prefix, partner, { largeFrom });
  const other = await watchAccount(client, prefix, partner, { largeFrom });
  await watched.poll();
  const setBack = await rememberKeys(client, createKeys(prefix).account('acme').base);
  return { watched, other, setBack, setAllBack: await rememberKeys(client, prefix) };
}

const brief = ({ type, filingId, status, sequence }: SeenEvent) => [filingId, type, status, sequence];

describe.each([
  ['by delta polls', 1],
  ['by full polls', 1000],
])('Redis is set back, noticed %s', (_name, largeFrom) => {
  it('what this process committed is committed again under the same ids, and the truth is told', async () => {
    const { watched, setAllBack } = await baselined(largeFrom, partnerRow('a'), partnerRow('b', 'PENDING'));
    partner.put('b', { status: 'COMPLETED', completedAt: '2026-11-01T00:00:00.000Z' });
    const [told] = await watched.pollFor();
    partner.put('c', { status: 'PAID' });
    const [created] = await watched.pollFor();
    await setAllBack();
    // As if nothing had been: without a memory of it, nobody would be told.
    partner.put('b', { status: 'PENDING', completedAt: null });
    const events = await watched.pollFor();
    expect(events.map(brief)).toEqual([
      ['b', 'filing.completed', 'COMPLETED', 1],
      ['c', 'filing.created', 'PAID', 1],
      ['b', 'filing.reopened', 'PENDING', 2],
    ]);
    expect([events[0]?.id, events[1]?.id]).toEqual([told?.id, created?.id]);
    expect(await watched.pollFor()).toEqual([]);
  });

  it('what people noted in this process is noted again, under the same id', async () => {
    const { watched, setAllBack } = await baselined(largeFrom, partnerRow('a', 'REJECTED'));
    const step = { kind: 'seen', by: 'Dana', text: 'asked' } as const;
    await noteFilings({ ...watched, now: watched.clock.now }, 'acme', ['a'], step);
    const [noted] = await watched.events();
    await setAllBack();
    expect(await watched.filings.get('acme', 'a')).toMatchObject({ seen: null, note: null });
    const events = await watched.pollFor();
    expect(events.map(brief)).toEqual([['a', 'filing.noted', 'REJECTED', 1]]);
    expect(events[0]?.id).toBe(noted?.id);
    expect(await watched.filings.get('acme', 'a')).toMatchObject({
      seen: { by: 'Dana' },
      note: { text: 'asked' },
    });
  });

  it('a process that knows of nothing finds the same change again under the same id', async () => {
    const { watched, other, setAllBack } = await baselined(largeFrom, partnerRow('b', 'PENDING'));
    partner.put('b', { status: 'REJECTED', rejectionReason: 'Not signed' });
    const [told] = await watched.pollFor();
    await setAllBack();
    const again = await other.pollFor();
    expect(again.map(brief)).toEqual([['b', 'filing.rejected', 'REJECTED', 1]]);
    expect(again[0]?.id).toBe(told?.id);
  });

  it('a process that did not commit it restates what may have been told, with a greater sequence', async () => {
    const { watched, other, setBack } = await baselined(
      largeFrom,
      partnerRow('a'),
      partnerRow('b', 'PENDING'),
    );
    partner.put('b', { status: 'PAID' });
    await watched.pollFor();
    await setBack();
    partner.put('b', { status: 'PENDING' });
    expect((await other.pollFor()).map(brief)).toEqual([['b', 'filing.pending', 'PENDING', 2]]);
    expect(await other.pollFor()).toEqual([]);
    expect(await watched.pollFor()).toEqual([]);
  });

  it('a filing that only the lost part of the log knew goes on from its sequence', async () => {
    const { watched, other, setBack } = await baselined(largeFrom, partnerRow('a'));
    partner.put('new', { status: 'PENDING' });
    await watched.pollFor();
    await setBack();
    partner.put('new', { status: 'REJECTED' });
    expect((await other.pollFor()).map(brief)).toEqual([['new', 'filing.rejected', 'REJECTED', 2]]);
  });

  it('a filing that only the lost part of the log knew, and that is gone, is told to be removed', async () => {
    const { watched, other, setBack } = await baselined(largeFrom, partnerRow('a'));
    partner.put('new', { status: 'PENDING' });
    await watched.pollFor();
    await setBack();
    partner.rows = partner.rows.filter(({ id }) => id !== 'new');
    expect(await other.pollFor()).toEqual([]);
    expect((await other.pollFor()).map(brief)).toEqual([['new', 'filing.removed', 'PENDING', 2]]);
    expect(await other.pollFor()).toEqual([]);
  });

  it('two processes that have used the same sequence for different things end on the truth', async () => {
    const { watched, other, setAllBack } = await baselined(
      largeFrom,
      partnerRow('a'),
      partnerRow('b', 'PENDING'),
    );
    partner.put('b', { status: 'PAID' });
    await watched.pollFor();
    await setAllBack();
    partner.put('b', { status: 'REJECTED', rejectionReason: 'Not signed' });
    expect((await other.pollFor()).map(brief)).toEqual([['b', 'filing.rejected', 'REJECTED', 1]]);
    expect((await watched.pollFor()).map(brief)).toEqual([['b', 'filing.rejected', 'REJECTED', 2]]);
    expect(await other.pollFor()).toEqual([]);
  });
});

it('a poll that is under way when Redis is set back commits nothing onto the other timeline', async () => {
  const { watched, setAllBack } = await baselined(1, partnerRow('a'), partnerRow('b', 'PENDING'));
  partner.put('b', { status: 'PAID' });
  await watched.pollFor();
  const marks = await watched.polling.read('acme');
  const [stored = null] = await watched.snapshot.read('acme', ['b']);
  await setAllBack();
  const next = { ...(stored?.state ?? never()), status: 'REJECTED', sequence: 2 };
  const event = { id: 'evt_x', type: 'filing.rejected', filingId: 'b', state: '', status: '', body: '{}' };
  const commit = { id: 'b', previous: stored, next, details: null, event };
  expect(await watched.snapshot.commit('acme', marks.generation, [commit], 1)).toEqual([
    { kind: 'conflict' },
  ]);
  // What was lost is there again, and now the same commit is one on the log that is known.
  expect((await watched.events()).map(brief)).toEqual([['b', 'filing.paid', 'PAID', 1]]);
  expect(await watched.snapshot.commit('acme', marks.generation, [commit], 1)).toEqual([
    { kind: 'written', position: 2 },
  ]);
});

function never(): never {
  throw new Error('no such filing');
}
