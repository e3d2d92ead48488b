import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type RawPage,
} from '../../support/partner/hostile-partner.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount, type SeenEvent, type WatchedAccount } from '../../support/partner/watched-account.ts';
import { seededRandom } from '../../support/seeded-random.ts';

const random = seededRandom('PROPERTY_SEED');

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

const watch = (options: Parameters<typeof watchAccount>[3] = {}) =>
  watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false, ...options });

const mixed = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    partnerRow(`f${i}`, ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED'][i % 5]),
  );

async function untilBaselined(watched: WatchedAccount, pollsMax: number): Promise<number> {
  for (let polls = 1; polls <= pollsMax; polls += 1) {
    await watched.poll();
    if ((await watched.polling.read('acme')).baselined) return polls;
  }
  throw new Error(`no baseline within ${pollsMax} polls`);
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const editPages = (edit: (page: RawPage) => unknown) => {
  partner.misbehave = () => ({ edit });
};
const types = (events: readonly SeenEvent[]) =>
  events.map(({ type, filingId }) => `${filingId} ${type}`).toSorted();

/** Ways to list filings badly, and how many polls a baseline may take with them. */
const manners: [string, number, () => void][] = [
  ['pages clamped to 20', 1, () => void (partner.clamp = 20)],
  [
    'pages clamped to 50 without a word',
    1,
    () => void Object.assign(partner, { clamp: 50, silentClamp: true }),
  ],
  ['random order, clamped to 20', 3, () => void Object.assign(partner, { clamp: 20, order: shuffled })],
  [
    'random order without totals',
    16,
    () => {
      Object.assign(partner, { clamp: 20, order: shuffled });
      editPages(({ items }) => ({ items }));
    },
  ],
  ['totals as text', 1, () => editPages((page) => ({ ...page, total: String(page.total) }))],
  ['no totals', 4, () => editPages(({ items }) => ({ items }))],
  ['totals of null', 4, () => editPages((page) => ({ ...page, total: null }))],
  ['totals too high', 4, () => editPages((page) => ({ ...page, total: Number(page.total) + 7 }))],
  ['totals too low', 4, () => editPages((page) => ({ ...page, total: Math.floor(Number(page.total) / 3) }))],
  ['totals of 0', 4, () => editPages((page) => ({ ...page, total: 0 }))],
  ['negative totals', 4, () => editPages((page) => ({ ...page, total: -1 }))],
  ['random totals', 16, () => editPages((page) => ({ ...page, total: Math.floor(random() * 600) }))],
  [
    'totals of the page',
    4,
    () => editPages((page) => ({ ...page, total: (page.items as unknown[]).length })),
  ],
  [
    'every row twice',
    20,
    () =>
      void Object.assign(partner, { order: (rows: readonly unknown[]) => rows.flatMap((row) => [row, row]) }),
  ],
];

describe.each([
  ['delta', 1],
  ['full', 1000],
])('polled by %s', (_name, largeFrom) => {
  it.each(manners)('with %s: a silent baseline, and then every change', async (_title, pollsMax, behave) => {
    partner.rows = mixed(330);
    behave();
    const watched = await watch({ largeFrom });
    await untilBaselined(watched, pollsMax);
    expect(await watched.events()).toEqual([]);
    expect(await watched.snapshot.known('acme')).toBe(330);

    partner.put('f0', { status: 'PAID' });
    partner.put('f2', { status: 'COMPLETED', completedAt: '2026-03-01T00:00:00Z' });
    partner.put('new', { status: 'PENDING' });
    // Where neither order nor totals help, a filing that enters a list is overlooked now and then.
    for (let polls = 0; polls < 40 && (await watched.events()).length < 3; polls += 1)
      await watched.poll(polls % 3 === 2 ? 'sweep' : 'delta');
    for (const mode of ['delta', 'sweep'] as const) await watched.poll(mode);
    expect(types(await watched.events())).toEqual([
      'f0 filing.paid',
      'f2 filing.completed',
      'new filing.created',
    ]);
    expect((await watched.polling.missedReads('acme')).size).toBe(0);
  });
});

describe('a list that is not to be had', () => {
  it('repeats its first page for ever: no baseline, no phantom when it is mended', async () => {
    partner.rows = mixed(330);
    editPages((page) => ({ ...page, items: partner.rows.slice(0, 100) }));
    const watched = await watch();
    for (let polls = 0; polls < 20; polls += 1) expect((await watched.poll()).kind).toBe('incomplete');
    expect(await watched.polling.read('acme')).toMatchObject({ baselined: false, lastCompletePollAt: 0 });
    partner.misbehave = () => undefined;
    await untilBaselined(watched, 1);
    expect(await watched.events()).toEqual([]);
  });

  it('repeats its first page for ever after the baseline: known filings are still followed, one by one', async () => {
    partner.rows = mixed(330);
    const watched = await watch({ largeFrom: 1000 });
    await watched.poll();
    const first = partner.rows.slice(0, 100);
    editPages((page) => ({ ...page, items: first }));
    partner.put('f327', { status: 'COMPLETED' });
    expect((await watched.poll()).kind).toBe('incomplete');
    expect(types(await watched.events())).toEqual(['f327 filing.completed']);
  });

  it('ends too early for a while: no baseline, no phantom when it is mended', async () => {
    partner.rows = mixed(330);
    partner.misbehave = ({ endpoint, status, offset }) =>
      endpoint !== 'filings'
        ? undefined
        : status !== null
          ? { status: 400 }
          : offset >= 200
            ? { edit: (page) => ({ ...page, items: [] }) }
            : undefined;
    const watched = await watch();
    for (let polls = 0; polls < 2; polls += 1) await watched.poll();
    expect((await watched.polling.read('acme')).baselined).toBe(false);
    partner.misbehave = () => undefined;
    await untilBaselined(watched, 1);
    expect(await watched.events()).toEqual([]);
  });

  it('has an empty page in the middle: what stands behind it is read', async () => {
    partner.rows = mixed(330);
    let empty = true;
    partner.misbehave = ({ status, offset }) =>
      !empty
        ? undefined
        : status !== null
          ? { status: 400 }
          : offset === 100
            ? { edit: (page) => ({ ...page, items: [] }) }
            : undefined;
    const watched = await watch();
    await watched.poll();
    expect(await watched.snapshot.known('acme')).toBe(230);
    expect((await watched.polling.read('acme')).baselined).toBe(false);
    empty = false;
    await untilBaselined(watched, 1);
    expect(await watched.events()).toEqual([]);
  });

  it.each(['delta', 'sweep'] as const)(
    'fails for all records of a page for ever: a %s follows everything else, and what is on that page one by one',
    async (mode) => {
      partner.clamp = 20;
      partner.rows = mixed(400).map((row) => ({ ...row, status: 'PENDING' }));
      const watched = await watch();
      await watched.poll();
      partner.misbehave = ({ endpoint, offset, limit }) =>
        endpoint === 'filings' && offset < 140 && offset + Math.min(limit, 20) > 120
          ? { status: 500 }
          : undefined;
      for (const row of partner.rows.slice(0, 400))
        if (Number(String(row.id).slice(1)) % 40 === 5) partner.put(String(row.id), { status: 'PAID' });
      const outcome = await watched.poll(mode);
      expect(outcome).toMatchObject({ kind: 'complete' });
      const { backoffUntil, consecutiveFailures, lastError } = await watched.polling.read('acme');
      expect({ backoffUntil, consecutiveFailures }).toEqual({ backoffUntil: 0, consecutiveFailures: 0 });
      expect(lastError).toContain('20 records left out');
      expect((await watched.events()).map(({ type }) => type)).toEqual(Array(10).fill('filing.paid'));
      partner.misbehave = () => undefined;
      expect((await watched.poll(mode)).kind).toBe('complete');
      expect(await watched.events()).toHaveLength(10);
    },
  );

  it('fails on page 7 once: the page is read again', async () => {
    partner.clamp = 20;
    partner.rows = mixed(400);
    let failures = 1;
    partner.misbehave = ({ offset }) => (offset === 120 && failures-- > 0 ? { body: '<html>' } : undefined);
    const watched = await watch();
    expect((await watched.poll()).kind).toBe('complete');
    expect(await watched.polling.read('acme')).toMatchObject({ baselined: true });
  });
});

describe('a list that moves while it is read', () => {
  it('loses and invents nothing when rows are inserted and removed between pages, with ties in no order', async () => {
    partner.clamp = 20;
    partner.rows = mixed(200);
    const watched = await watch({ largeFrom: 1000 });
    await watched.poll();
    let made = 0;
    const removed: string[] = [];
    partner.order = (rows) => rows.toSorted(() => (made % 2 === 0 ? 1 : -1));
    partner.misbehave = ({ endpoint }) => {
      if (endpoint !== 'filings') return undefined;
      made += 1;
      if (made % 3 === 0) partner.put(`new${made}`, { status: 'UNPAID' });
      const victim = made % 4 === 0 ? partner.rows[made % partner.rows.length] : undefined;
      if (victim !== undefined && String(victim.id).startsWith('f')) {
        removed.push(String(victim.id));
        partner.remove(String(victim.id));
      }
      return undefined;
    };
    for (let polls = 0; polls < 4; polls += 1) await watched.poll();
    partner.misbehave = () => undefined;
    for (let polls = 0; polls < 3; polls += 1) await watched.poll();
    const born = partner.rows
      .filter(({ id }) => String(id).startsWith('new'))
      .map(({ id }) => `${String(id)} filing.created`);
    expect(types(await watched.events())).toEqual(
      [...born, ...removed.map((id) => `${id} filing.removed`)].toSorted(),
    );
    expect(born.length).toBeGreaterThan(5);
    expect(removed.length).toBeGreaterThan(5);
  });

  // A row that moved while the list was paged is shown again; a cache answers the later page as it was.
  const showAgain = (offset: number, ...items: unknown[]) => {
    partner.misbehave = (request) =>
      request.endpoint === 'filings' && request.offset === offset && request.limit === 100
        ? { edit: (page) => ({ ...page, items: [...(page.items as unknown[]), ...items] }) }
        : undefined;
  };

  it.each(['delta', 'sweep'] as const)(
    'shows a changed filing as it is and on a later page as it was: a %s tells the change once',
    async (mode) => {
      partner.clamp = 20;
      partner.rows = mixed(60).map((row) => ({ ...row, status: 'PENDING' }));
      const watched = await watch();
      await watched.poll();
      const stale = partner.rows[0];
      partner.put('f0', { rejectionReason: 'none', status: 'PENDING' });
      await watched.poll(mode);
      showAgain(20, stale, { ...stale, status: 'PAID' });
      for (let polls = 0; polls < 3; polls += 1) await watched.poll(mode);
      partner.put('f0', { status: 'UNPAID' });
      partner.put('f1', { status: 'COMPLETED' });
      partner.order = (rows) => rows.toSorted((a) => (a.id === 'f0' ? -1 : 1));
      for (let polls = 0; polls < 3; polls += 1) await watched.poll(mode);
      expect(types(await watched.events())).toEqual(['f0 filing.unpaid', 'f1 filing.completed']);
    },
  );

  it('shows an unchanged filing as it is and on a later page as it was once: nothing is told', async () => {
    partner.clamp = 20;
    partner.rows = mixed(60);
    const watched = await watch({ largeFrom: 1000 });
    await watched.poll();
    showAgain(40, partnerRow('f0', 'COMPLETED'), partnerRow('f1', 'UNPAID'));
    for (let polls = 0; polls < 3; polls += 1)
      expect(await watched.poll()).toMatchObject({ kind: 'complete', events: 0 });
    const asked = partner.requests.filter(({ endpoint }) => endpoint === 'filing').map(({ id }) => id);
    expect(asked.toSorted()).toEqual(['f0', 'f0', 'f0', 'f1', 'f1', 'f1']);
  });

  it.each([['the later copy first'], ['the earlier copy first']])(
    'shows a filing twice on one page, %s: neither is believed, the filing is read by itself',
    async (how) => {
      partner.rows = mixed(60);
      const watched = await watch({ largeFrom: 1000 });
      await watched.poll();
      const copies = [partnerRow('f0', 'UNPAID'), partnerRow('f0', 'REJECTED')];
      partner.rows = partner.rows.filter(({ id }) => id !== 'f0');
      partner.misbehave = ({ endpoint, id }) =>
        id === 'f0'
          ? { status: 200, body: JSON.stringify(copies[1]) }
          : endpoint === 'filings'
            ? {
                edit: (page) => ({
                  ...page,
                  items: [
                    ...(how === 'the later copy first' ? copies.toReversed() : copies),
                    ...(page.items as unknown[]),
                  ],
                }),
              }
            : undefined;
      for (let polls = 0; polls < 3; polls += 1) await watched.poll();
      expect((await watched.events()).map(({ status }) => status)).toEqual(['REJECTED']);
    },
  );

  it('contradicts itself everywhere: a poll settles some and leaves the others', async () => {
    partner.rows = mixed(300);
    const watched = await watch({ largeFrom: 1000 });
    await watched.poll();
    showAgain(200, ...partner.rows.map((row) => ({ ...row, status: 'ON_HOLD' })));
    const before = partner.requests.length;
    await watched.poll();
    expect(await watched.events()).toEqual([]);
    expect(partner.requests.length - before).toBeLessThan(120);
  });

  it('is overtaken: a page that is answered after a newer read changes nothing', async () => {
    partner.rows = mixed(60);
    const watched = await watch({ largeFrom: 1000 });
    const other = await watch({ largeFrom: 1000 });
    await watched.poll();
    const release = Promise.withResolvers<void>();
    partner.misbehave = () => ({ after: release.promise });
    const before = partner.requests.length;
    const slow = watched.poll();
    await expect.poll(() => partner.requests.length - before).toBe(1);
    partner.misbehave = () => undefined;
    partner.put('f0', { status: 'PENDING' });
    await other.poll();
    release.resolve();
    expect((await slow).kind).toBe('complete');
    await watched.poll();
    expect(types(await watched.events())).toEqual(['f0 filing.pending']);
  });
});

describe('records that cannot be read', () => {
  const bad = { id: 'bad', status: 7 };
  it('are counted and do not keep the baseline from ending or make every poll a sweep', async () => {
    partner.rows = [
      bad,
      ...mixed(150),
      { id: 'x'.repeat(10_240), status: 'PAID' },
      { id: 'a\ud800', status: 'PAID' },
    ];
    const watched = await watch({ sweepIntervalMs: 1e9 });
    await untilBaselined(watched, 1);
    // The whole list, then that of PAID, which counts two more than are known.
    expect(watched.quarantined).toEqual([3, 2]);
    const outcomes = [];
    for (let polls = 0; polls < 12; polls += 1) {
      if (polls % 3 === 2) partner.put(`new${polls}`, { status: 'COMPLETED' });
      outcomes.push(await watched.poll());
    }
    expect(
      outcomes.filter((outcome) => outcome.kind === 'complete' && outcome.mode === 'delta'),
    ).toHaveLength(12);
    expect(types(await watched.events())).toEqual(
      [2, 5, 8, 11].map((poll) => `new${poll} filing.created`).toSorted(),
    );
  });

  it('standing alone on a page end nothing', async () => {
    partner.rows = [bad, ...mixed(150).map((row) => ({ ...row, status: 'COMPLETED' }))];
    const watched = await watch();
    await untilBaselined(watched, 1);
    // The probe with limit 1 and the list of PENDING show nothing but what cannot be read.
    partner.misbehave = ({ status }) =>
      status === 'PENDING' ? { edit: () => ({ items: [bad], total: 1 }) } : undefined;
    expect((await watched.poll()).kind).toBe('complete');
  });

  it('were known before: they are neither removed nor believed, and go on where they stood', async () => {
    partner.rows = mixed(10);
    const watched = await watch();
    await watched.poll();
    const readable = partner.rows[0];
    partner.put('f0', { status: 7 });
    for (let polls = 0; polls < 4; polls += 1) await watched.poll(polls % 2 === 0 ? 'delta' : 'sweep');
    expect(await watched.events()).toEqual([]);
    if (readable !== undefined) partner.put('f0', { ...readable, status: 'PAID' });
    expect(types(await watched.pollFor())).toEqual(['f0 filing.paid']);
  });

  it('are all there is: the format has changed, and nothing is concluded', async () => {
    partner.rows = mixed(250);
    const watched = await watch();
    await watched.poll();
    const requests = partner.requests.length;
    editPages((page) => ({
      ...page,
      items: (page.items as { id: unknown }[]).map(({ id, ...row }) => ({ ...row, filingId: id })),
    }));
    for (const mode of ['delta', 'sweep', 'delta', 'sweep'] as const) await watched.poll(mode);
    expect(await watched.events()).toEqual([]);
    expect(await watched.snapshot.known('acme')).toBe(250);
    expect(partner.requests.length - requests).toBeLessThan(1200);
  });

  it('are all there is: the poll is not complete, whichever field is not as specified', async () => {
    partner.rows = mixed(250);
    const watched = await watch();
    await watched.poll();
    for (const status of [null, 3, undefined]) {
      editPages((page) => ({ ...page, items: (page.items as object[]).map((row) => ({ ...row, status })) }));
      expect(await watched.poll('sweep')).toMatchObject({ kind: 'failed' });
    }
    expect(await watched.events()).toEqual([]);
  });
});

describe('strange ids and statuses', () => {
  const ids = [
    '__proto__',
    'constructor',
    'toString',
    'a/b',
    '../me',
    '%2e%2e',
    'é 𝒳',
    'a\u0000b',
    ':',
    '{x}',
    ' ',
    'x'.repeat(256),
  ];
  it('are followed like any other', async () => {
    partner.rows = ids.map((id) => partnerRow(id));
    const watched = await watch();
    await untilBaselined(watched, 1);
    for (const status of ['__proto__', 'constructor', 'toString', 'A B/ü?&', 'COMPLETED']) {
      for (const id of ids) partner.put(id, { status });
      expect(types(await watched.pollFor())).toHaveLength(ids.length);
      expect((await watched.snapshot.counts('acme'))[status]).toBe(ids.length);
    }
    partner.rows = [];
    await watched.poll('sweep');
    expect(types(await watched.pollFor())).toEqual(ids.map((id) => `${id} filing.removed`).toSorted());
    expect(await watched.snapshot.known('acme')).toBe(0);
  });
});

describe('the pages of a list', () => {
  it('are asked for one after the other, none of them twice and none behind its end', async () => {
    for (const row of mixed(430)) partner.put(row.id as string, row);
    const watched = await watch();
    await watched.poll();
    partner.requests.length = 0;
    await watched.poll('sweep');
    expect(partner.peaks().atOnce).toBe(1);
    expect(partner.requests.map(({ offset }) => offset)).toEqual([0, 100, 200, 300, 400]);
  });

  it('are awaited even if the poll fails before their turn', async () => {
    for (const row of mixed(430)) partner.put(row.id as string, row);
    const watched = await watch();
    await watched.poll();
    for (const { id } of mixed(430)) partner.put(id as string, { rejectionReason: 'changed' });
    const stored = storedAccount(client, createKeys(`${redis.prefix}${tests}`).account(watched.account));
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    partner.misbehave = ({ offset }) => {
      // What the pages are to be compared with is gone.
      if (offset === 0) return { after: stored.dropPolling() };
      if (offset !== 100) return undefined;
      reached.resolve();
      return { after: release.promise };
    };
    let over = false;
    const sweep = watched
      .poll('sweep')
      .catch(() => undefined)
      .then(() => (over = true));
    await reached.promise;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(over).toBe(false);
    release.resolve();
    await sweep;
  });

  it('are read again behind one that could not be parsed at first', async () => {
    for (const row of mixed(430)) partner.put(row.id as string, row);
    const watched = await watch();
    await watched.poll();
    partner.requests.length = 0;
    let faults = 0;
    partner.misbehave = ({ offset }) => (offset === 200 && (faults += 1) === 1 ? { body: '{' } : undefined);
    const retrying = await watch({ retries: true, clock: watched.clock });
    expect(await retrying.poll('sweep')).toMatchObject({ kind: 'complete' });
    const offsets = partner.requests.map(({ offset }) => offset);
    expect(offsets.slice(offsets.lastIndexOf(200))).toEqual([200, 300, 400]);
  });
});
