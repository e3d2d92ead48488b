import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { healthState } from '../../../src/polling/health.ts';
import { standingDoubt } from '../../../src/polling/beliefs/doubt.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type PartnerRow,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import {
  watchAccount,
  type SeenEvent,
  type WatchedAccount,
  type WatchOptions,
} from '../../support/partner/watched-account.ts';

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

const watch = (options: WatchOptions = {}) =>
  watchAccount(client, `${redis.prefix}${tests}`, partner, { largeFrom: 700, ...options });

const statuses = ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'COMPLETED', 'COMPLETED'];
const rowsOf = (name: string, count: number): PartnerRow[] =>
  Array.from({ length: count }, (_, i) => partnerRow(`${name}${i}`, statuses[i % statuses.length]));

const types = (events: readonly SeenEvent[]) => {
  const counts: Record<string, number> = {};
  for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1;
  return counts;
};

async function stateOf({ polling, account, clock }: WatchedAccount): Promise<string> {
  return healthState(await polling.read(account), 60_000, Date.now(), clock.now());
}

async function accept({ polling, account }: WatchedAccount): Promise<void> {
  const doubt = standingDoubt(await polling.read(account));
  if (doubt === null) throw new Error('nothing is doubted');
  expect(await polling.accept(account, doubt)).toBe(true);
}

/** Answers `GET /partner/me` as somebody else. */
function answerAs(email: string): void {
  partner.misbehave = ({ endpoint }) =>
    endpoint === 'me' ? { body: JSON.stringify({ email, enabledStates: [] }) } : undefined;
}

const sizes = [
  { size: 'a small account', ours: 300, theirs: 40 },
  { size: 'an account of ten filings', ours: 10, theirs: 1 },
  { size: 'a large account, with a small one', ours: 800, theirs: 40 },
  { size: 'a large account, with a larger one', ours: 800, theirs: 900 },
  { size: 'a small account, with a large one', ours: 100, theirs: 3_000 },
];

describe("another account's list for a while", () => {
  it.each(sizes)('tells nothing of it to $size', async ({ ours, theirs }) => {
    const own = rowsOf('f', ours);
    partner.rows = own;
    const watched = await watch();
    await watched.poll();
    partner.rows = rowsOf('x', theirs);
    for (let poll = 0; poll < 4; poll += 1) expect((await watched.poll()).kind).toBe('doubtful');
    expect(types(await watched.events())).toEqual({ 'account.doubtful': 1 });
    expect(await stateOf(watched)).toBe('doubtful');
    expect(standingDoubt(await watched.polling.read('acme'))).toMatchObject({
      reason: 'other_list',
      known: ours,
      shown: 0,
      accepted: false,
    });

    partner.rows = own;
    partner.put('f1', { status: 'REJECTED', rejectionReason: 'unsigned' });
    expect(types(await watched.pollFor())).toEqual({ 'filing.rejected': 1, 'account.recovered': 1 });
    expect(await stateOf(watched)).toBe('ok');
    expect(types(await watched.pollFor('sweep'))).toEqual({});
    expect(await watched.snapshot.known('acme')).toBe(ours);
  });
});

describe('what is told while findings are held back', () => {
  it('is a status change of a known filing, wherever it is seen', async () => {
    partner.rows = rowsOf('f', 300);
    const watched = await watch();
    await watched.poll();
    const own = partner.rows;
    // A proxy mixes up the lists, filings by themselves are the account's own.
    partner.rows = [...rowsOf('x', 40), ...own.slice(0, 1)];
    partner.misbehave = ({ endpoint, id }) =>
      endpoint === 'filing'
        ? { status: 200, body: JSON.stringify(own.find((row) => row.id === id)) }
        : undefined;
    partner.put('f0', { status: 'REJECTED', rejectionReason: 'unsigned' });
    own[7] = { ...partnerRow('f7', 'REJECTED') };
    expect(types(await watched.pollFor())).toEqual({ 'filing.rejected': 2, 'account.doubtful': 1 });
  });

  it('is all but the removals while too many known filings answer 404', async () => {
    partner.rows = rowsOf('f', 300);
    const watched = await watch();
    await watched.poll();
    const gone = partner.rows.slice(100, 130);
    partner.rows = partner.rows.filter((row) => !gone.includes(row));
    partner.put('f0', { status: 'REJECTED' });
    partner.put('new', { status: 'PAID' });
    expect(types(await watched.pollFor())).toEqual({
      'filing.rejected': 1,
      'filing.created': 1,
      'account.doubtful': 1,
    });
    for (let poll = 0; poll < 3; poll += 1) {
      const before = partner.requests.length;
      expect(await watched.poll()).toMatchObject({
        kind: 'doubtful',
        doubt: { reason: 'removal_wave', gone: 30 },
      });
      // 20 of the 30 are asked for by themselves, and one that the list shows vouches for them.
      expect(partner.requests.slice(before).filter(({ endpoint }) => endpoint === 'filing')).toHaveLength(21);
    }
    partner.rows = [...partner.rows, ...gone];
    expect(types(await watched.pollFor())).toEqual({ 'account.recovered': 1 });
  });

  it('is nothing at all while another account answers, be its filings the same', async () => {
    partner.rows = rowsOf('f', 30);
    const watched = await watch({ sweepIntervalMs: 1 });
    await watched.poll();
    answerAs('somebody@else.example');
    partner.put('f0', { status: 'REJECTED' });
    partner.put('new', { status: 'PAID' });
    const before = partner.requests.length;
    expect(await watched.pollFor()).toMatchObject([
      { type: 'account.doubtful', doubt: { reason: 'other_account' } },
    ]);
    expect(partner.requests.slice(before).map(({ endpoint }) => endpoint)).toEqual(['me']);
    answerAs('A@example.test ');
    expect(types(await watched.pollFor())).toEqual({
      'filing.rejected': 1,
      'filing.created': 1,
      'account.recovered': 1,
    });
  });

  it('is nothing where the list is empty and filings answer 404', async () => {
    partner.rows = rowsOf('f', 15);
    const watched = await watch();
    await watched.poll();
    const own = partner.rows;
    partner.rows = [];
    // One 404 of each says nothing yet.
    expect((await watched.poll()).kind).toBe('complete');
    for (let poll = 0; poll < 3; poll += 1)
      expect(await watched.poll()).toMatchObject({
        kind: 'doubtful',
        doubt: { reason: 'other_list', unknown: 0 },
      });
    partner.rows = own;
    expect(types(await watched.pollFor())).toEqual({ 'account.recovered': 1 });
  });

  it('is nothing of a wave of unknown filings, oldest first or newest first, whatever is known', async () => {
    for (const order of ['newest', 'oldest'] as const) {
      const own = rowsOf('f', 200);
      partner.rows = own;
      const watched = await watch({ account: order });
      await watched.poll();
      const wave = rowsOf('x', 1_001);
      partner.rows = order === 'newest' ? [...wave, ...own] : [...own, ...wave];
      expect(await watched.poll()).toMatchObject({ kind: 'doubtful', doubt: { reason: 'unknown_wave' } });
      expect(types(await watched.events())).toEqual({ 'account.doubtful': 1 });
      partner.rows = own;
      expect(types(await watched.pollFor())).toEqual({ 'account.recovered': 1 });
    }
  });
});

describe('what the operator accepts', () => {
  it.each([
    { size: 'a small account', ours: 60, theirs: 40 },
    { size: 'an account of ten filings', ours: 10, theirs: 1 },
    { size: 'a large account', ours: 130, theirs: 110 },
  ])('is told, in order, when it is the list of $size', async ({ ours, theirs }) => {
    partner.rows = rowsOf('f', ours);
    let watched = await watch();
    await watched.poll();
    partner.rows = rowsOf('x', theirs);
    await watched.poll();
    await watched.poll();
    await accept(watched);
    expect(await stateOf(watched)).toBe('ok');

    // Another process: what was accepted is in the store.
    watched = await watch();
    await expect
      .poll(
        async () => {
          await watched.poll('sweep');
          return types(await watched.events());
        },
        { timeout: 20_000 },
      )
      .toEqual({
        'account.doubtful': 1,
        'filing.created': theirs,
        'filing.removed': ours,
        'account.recovered': 1,
      });
    expect(
      (await watched.events()).filter(({ sequence }) => sequence !== undefined && sequence !== 1),
    ).toEqual([]);
    expect(standingDoubt(await watched.polling.read('acme'))).toBeNull();

    // It is armed again.
    if (theirs < 10) return;
    partner.rows = rowsOf('y', 20);
    expect(types(await watched.pollFor())).toEqual({ 'account.doubtful': 1 });
  });

  it('is a wave of removals, and then doubting goes on', async () => {
    partner.rows = rowsOf('f', 300);
    const watched = await watch();
    await watched.poll();
    partner.rows = partner.rows.slice(50);
    await watched.poll();
    await watched.poll();
    await accept(watched);
    expect(types(await watched.pollFor())).toEqual({ 'filing.removed': 50 });
    expect(types(await watched.pollFor())).toEqual({ 'account.recovered': 1 });
    partner.rows = partner.rows.slice(30);
    expect(types(await watched.pollFor())).toEqual({ 'account.doubtful': 1 });
  });

  it('is another account, and no third one', async () => {
    partner.rows = rowsOf('f', 30);
    const watched = await watch({ sweepIntervalMs: 1 });
    await watched.poll();
    answerAs('somebody@else.example');
    partner.rows = rowsOf('x', 12);
    await watched.poll();
    await accept(watched);
    answerAs('a-third@one.example');
    expect(types(await watched.pollFor())).toEqual({ 'account.doubtful': 1 });
    answerAs('somebody@else.example');
    expect(types(await watched.pollFor())).toEqual({});
    await accept(watched);
  });

  it('is nothing that came up since', async () => {
    partner.rows = rowsOf('f', 30);
    const watched = await watch();
    await watched.poll();
    partner.rows = rowsOf('x', 12);
    await watched.poll();
    const doubt = standingDoubt(await watched.polling.read('acme'));
    if (doubt === null) throw new Error('nothing is doubted');
    expect(await watched.polling.accept('acme', { ...doubt, since: doubt.since - 1 })).toBe(false);
    expect(await watched.polling.accept('acme', doubt)).toBe(true);
    expect(await watched.polling.accept('acme', doubt)).toBe(false);
  });
});

describe('without an operator', () => {
  it.each([
    { known: 40, born: 200 },
    { known: 12, born: 1_000 },
    { known: 3, born: 1_500 },
    { known: 750, born: 900 },
    { known: 1_500, born: 1_400 },
  ])('$born filings are created beside $known', async ({ known, born }) => {
    partner.rows = rowsOf('f', known);
    const watched = await watch();
    await watched.poll();
    partner.rows = [...rowsOf('x', born), ...partner.rows];
    expect(types(await watched.pollFor('sweep'))).toEqual({ 'filing.created': born });
  });

  it.each([
    { known: 6, gone: 6 },
    { known: 30, gone: 20 },
    { known: 300, gone: 5 },
    { known: 3_000, gone: 30 },
  ])('$gone of $known filings are removed', async ({ known, gone }) => {
    partner.rows = rowsOf('f', known);
    const watched = await watch();
    await watched.poll();
    partner.rows = partner.rows.slice(gone);
    await watched.poll('sweep');
    expect(types(await watched.pollFor('sweep'))).toEqual({ 'filing.removed': gone });
  });

  it('a large account learns of many new unsettled filings beside few that are known', async () => {
    partner.rows = Array.from({ length: 800 }, (_, i) => partnerRow(`f${i}`, 'COMPLETED'));
    const watched = await watch();
    await watched.poll();
    for (let i = 0; i < 60; i += 1) partner.put(`x${i}`, { status: 'PAID' });
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'delta', events: 60 });
  });

  it('ordinary polls take as many requests as before, and one more in a sweep interval', async () => {
    partner.rows = rowsOf('f', 300);
    const watched = await watch();
    const counted = async () => {
      const before = partner.requests.length;
      await watched.poll();
      return partner.requests
        .slice(before)
        .map(({ endpoint }) => endpoint)
        .join(' ');
    };
    expect(await counted()).toContain('me');
    partner.put('f1', { status: 'REJECTED' });
    partner.put('new', { status: 'PAID' });
    for (let poll = 0; poll < 3; poll += 1) expect(await counted()).toBe('filings filings filings filings');
  });
});

describe('times that a service writes otherwise', () => {
  const written = (at: string | null) => (at === null ? null : `on ${at}`);
  const rewrite = (rows: readonly PartnerRow[], write: (at: string | null) => unknown = written) =>
    rows.map((row) => ({ ...row, completedAt: write(row['completedAt'] as string | null) }));

  // A large account is read by deltas, except for its sweeps.
  it.each([
    ['a small account', 300, undefined],
    ['an account of ten filings', 10, undefined],
    ['a large account', 900, 'sweep'],
    ['a larger one than waits in memory', 3_000, 'sweep'],
  ] as const)('cause no event in %s, until they are written as before', async (_title, count, mode) => {
    const own = rowsOf('f', count);
    partner.rows = own;
    const watched = await watch();
    await watched.poll();
    partner.rows = rewrite(own);
    expect(types(await watched.pollFor(mode))).toEqual({ 'account.doubtful': 1 });
    expect((await watched.poll()).kind).toBe('doubtful');
    expect(types(await watched.pollFor('sweep'))).toEqual({});
    expect(await stateOf(watched)).toBe('doubtful');
    const doubt = standingDoubt(await watched.polling.read('acme'));
    expect(doubt).toMatchObject({ reason: 'completed_at_wave', known: count, unknown: 0, accepted: false });
    expect(doubt?.moved).toBe(rewrite(own).filter(({ completedAt }) => completedAt !== null).length);
    expect((await watched.polling.read('acme')).lastError).toMatch(/^doubtful: completedAt of \d+ filings/);

    // All else goes on.
    partner.put('f0', { status: 'PENDING' });
    partner.put('f4', { status: 'PENDING', completedAt: null });
    partner.put('new', { status: 'PAID' });
    expect(types(await watched.pollFor('sweep'))).toEqual({
      'filing.pending': 1,
      'filing.reopened': 1,
      'filing.created': 1,
    });

    partner.rows = rewrite(partner.rows, (at) => at?.replace('on ', '') ?? null);
    expect(types(await watched.pollFor(mode))).toEqual({ 'account.recovered': 1 });
    expect(await stateOf(watched)).toBe('ok');
    expect(types(await watched.pollFor('sweep'))).toEqual({});
  });

  it.each([
    ['another zone', (at: string | null) => at?.replace('00:00:00', '06:00:00') ?? null],
    ['none any more', () => null],
    [
      'in words, and zero where there is none',
      (at: string | null) => at?.replace('T', ' at ') ?? '0000-00-00',
    ],
    ['for all that have none', (at: string | null) => at ?? '2026-02-01T00:00:00.000Z'],
  ])('are doubted whatever they are: %s', async (_title, write) => {
    partner.rows = rowsOf('f', 60);
    partner.rows.push(...Array.from({ length: 40 }, (_, i) => partnerRow(`r${i}`, 'REJECTED')));
    const watched = await watch();
    await watched.poll();
    partner.rows = rewrite(partner.rows, write);
    expect(types(await watched.pollFor())).toEqual({ 'account.doubtful': 1 });
  });

  it('are events once the operator accepts them, in a large account too, and the doubt ends', async () => {
    const own = rowsOf('f', 2_400);
    partner.rows = own;
    const watched = await watch();
    await watched.poll();
    partner.rows = rewrite(own);
    await watched.poll('sweep');
    await accept(watched);
    expect(types(await watched.pollFor('sweep'))).toEqual({ 'filing.completed': 1_200 });
    expect(types(await watched.pollFor())).toEqual({ 'account.recovered': 1 });
    expect(types(await watched.pollFor('sweep'))).toEqual({});
    expect((await watched.events()).filter(({ inferred }) => inferred)).toEqual([]);
  });

  it('are events at once where few have another one', async () => {
    partner.rows = rowsOf('f', 300);
    const watched = await watch();
    await watched.poll();
    for (const id of ['f3', 'f4', 'f5', 'f9']) partner.put(id, { completedAt: '2026-03-01T00:00:00.000Z' });
    expect(types(await watched.pollFor())).toEqual({ 'filing.completed': 4 });
    for (let i = 3; i < 150; i += 6) partner.put(`f${i}`, { completedAt: '2026-04-01T00:00:00.000Z' });
    expect(types(await watched.pollFor())).toEqual({ 'filing.completed': 25 });
    expect((await watched.events()).every(({ inferred }) => inferred)).toBe(true);
  });

  it('are events of a list that cannot be read to its end, too', async () => {
    partner.rows = rowsOf('f', 300);
    const watched = await watch({ retries: false });
    await watched.poll();
    partner.put('f3', { completedAt: '2026-03-01T00:00:00.000Z' });
    partner.misbehave = ({ offset }) => (offset === 200 ? { status: 500 } : undefined);
    expect(types(await watched.pollFor())).toEqual({ 'filing.completed': 1 });
  });
});
