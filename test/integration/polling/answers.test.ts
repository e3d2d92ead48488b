import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { linkAnswer } from '../../../src/filings/link-answer.ts';
import { createAnswers } from '../../../src/filings/answers.ts';
import { createFilingListStore } from '../../../src/filings/lists/filing-list-store.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { watchAccount, type WatchedAccount } from '../../support/partner/watched-account.ts';
import { rememberKeys } from '../../support/redis/set-back.ts';
import { firstKey, startSandbox } from '../sandbox/sandbox-client.ts';
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

const policyNumber = 'SL-2026-0042';
const early = '2026-01-01T00:00:00.000Z';
const late = '2026-03-01T00:00:00.000Z';

function row(id: string, status: string, fields: Readonly<Record<string, unknown>> = {}) {
  return partnerRow(id, status, { policyNumber, createdAt: status === 'REJECTED' ? early : late, ...fields });
}

/** A poller of an account that has these filings in its baseline. */
async function watch(...rows: ReturnType<typeof row>[]) {
  partner.rows = rows;
  const prefix = `${redis.prefix}${tests}`;
  const watched = await watchAccount(client, prefix, partner, { retries: false });
  await watched.poll();
  const keys = createKeys(prefix);
  return {
    ...watched,
    filings: createFilingListStore(client, keys),
    answers: createAnswers(client, keys, () => undefined),
  };
}

type Watched = Awaited<ReturnType<typeof watch>>;

async function shown({ account, filings }: Watched, id: string) {
  const filing = await filings.get(account, id);
  return { answeredBy: filing?.state.answeredBy ?? null, answers: filing?.answers ?? null };
}

const open = ({ account, filings }: Watched) => filings.count({ account, status: 'REJECTED' });

async function changes(watched: WatchedAccount, mode?: 'sweep') {
  const events = await watched.pollFor(mode);
  return events.map(({ filingId, type, ...data }) => {
    const { answeredBy } = data as { answeredBy?: string | null };
    return answeredBy === undefined ? `${filingId} ${type}` : `${filingId} ${type} ${answeredBy}`;
  });
}

describe('a filing that appears', () => {
  it('answers the rejection that it looks like, with one event of each in one step', async () => {
    const watched = await watch(row('f1', 'REJECTED'));
    expect(await open(watched)).toBe(1);
    partner.put('f2', row('f2', 'UNPAID', { policyNumber: 'sl 2026-0042' }));
    expect(await changes(watched)).toEqual(['f2 filing.created', 'f1 filing.resubmitted f2']);
    const [, resubmitted] = await watched.events();
    expect(resubmitted).toMatchObject({
      status: 'REJECTED',
      previousStatus: 'REJECTED',
      changed: [],
      sequence: 1,
      omitted: 'not_kept',
      details: { policyNumber, insuredsName: 'Acme', stateAbbr: 'TX' },
    });
    expect(await shown(watched, 'f1')).toEqual({ answeredBy: 'f2', answers: null });
    expect(await shown(watched, 'f2')).toEqual({ answeredBy: null, answers: 'f1' });
    expect(await open(watched)).toBe(0);
    expect(watched.handed.map(({ filingId }) => filingId)).toEqual(['f2', 'f1']);
    expect(await changes(watched, 'sweep')).toEqual([]);
  });

  it.each([
    ['another state', { filingState: { id: 's2', name: 'Tennessee', stateAbbr: 'TN' } }],
    ['another type', { filingType: 'NEW_BUSINESS_RENEWAL' }],
    ['another endorsement number', { endorsementNumber: '2' }],
    ['another digit', { policyNumber: 'SL-2026-0043' }],
    ['no policy number', { policyNumber: null }],
    ['an earlier creation', { createdAt: '2025-12-31T23:59:59.999Z' }],
    ['no creation', { createdAt: null }],
  ])('answers nothing with %s', async (_, fields) => {
    const watched = await watch(row('f1', 'REJECTED'));
    partner.put('f2', row('f2', 'UNPAID', fields));
    expect(await changes(watched)).toEqual(['f2 filing.created']);
    expect(await open(watched)).toBe(1);
  });

  it('answers the newest of several rejections, and none twice', async () => {
    const watched = await watch(row('f1', 'PENDING'), row('f2', 'REJECTED'));
    partner.put('f1', { status: 'REJECTED', createdAt: early });
    await watched.poll();
    partner.put('f3', row('f3', 'UNPAID'));
    expect(await changes(watched)).toEqual(['f3 filing.created', 'f1 filing.resubmitted f3']);
    partner.put('f4', row('f4', 'UNPAID'));
    partner.put('f5', row('f5', 'UNPAID'));
    const both = await changes(watched);
    expect(both.filter((change) => change.includes('resubmitted'))).toHaveLength(1);
    expect(await open(watched)).toBe(0);
  });

  it('is itself open where it is rejected, and its own answer may be seen by the same poll', async () => {
    const watched = await watch(row('f1', 'REJECTED'));
    // Newest first, as services list.
    partner.put('f2', row('f2', 'REJECTED', { createdAt: '2026-02-01T00:00:00.000Z' }));
    partner.put('f3', row('f3', 'PENDING'));
    expect(await changes(watched, 'sweep')).toEqual([
      'f2 filing.created',
      'f1 filing.resubmitted f2',
      'f3 filing.created',
      'f2 filing.resubmitted f3',
    ]);
    expect(await shown(watched, 'f2')).toEqual({ answeredBy: 'f3', answers: 'f1' });
    partner.put('f3', { status: 'REJECTED' });
    await watched.poll();
    expect(await open(watched)).toBe(1);
    expect(await shown(watched, 'f2')).toMatchObject({ answeredBy: 'f3' });
  });

  it('gives the rejection back when it is removed', async () => {
    const watched = await watch(row('f1', 'REJECTED'));
    partner.put('f2', row('f2', 'UNPAID'));
    await watched.poll();
    partner.remove('f2');
    await watched.poll();
    expect(await changes(watched)).toEqual(['f2 filing.removed', 'f1 filing.resubmitted null']);
    expect(await shown(watched, 'f1')).toEqual({ answeredBy: null, answers: null });
    expect(await open(watched)).toBe(1);
    partner.put('f3', row('f3', 'UNPAID'));
    expect(await changes(watched)).toEqual(['f3 filing.created', 'f1 filing.resubmitted f3']);
  });
});

it('a rejection that moves on ends as ever, and its answer goes with the stay', async () => {
  const watched = await watch(row('f1', 'REJECTED'));
  partner.put('f2', row('f2', 'UNPAID'));
  await watched.poll();
  partner.put('f1', { rejectionReason: 'another' });
  expect(await changes(watched, 'sweep')).toEqual(['f1 filing.rejected f2']);
  partner.put('f1', { status: 'PENDING' });
  expect(await changes(watched, 'sweep')).toEqual(['f1 filing.pending']);
  expect(await shown(watched, 'f2')).toEqual({ answeredBy: null, answers: null });
  partner.put('f1', { status: 'REJECTED' });
  await watched.poll();
  expect(await open(watched)).toBe(1);
});

it('a rejection that is removed is not answered any more', async () => {
  const watched = await watch(row('f1', 'REJECTED'));
  partner.put('f2', row('f2', 'UNPAID'));
  await watched.poll();
  const rejection = partner.rows.find(({ id }) => id === 'f1');
  partner.remove('f1');
  for (let polls = 0; polls < 2; polls += 1) await watched.pollFor('sweep');
  expect((await watched.events()).at(-1)).toMatchObject({ filingId: 'f1', type: 'filing.removed' });
  expect(await shown(watched, 'f2')).toEqual({ answeredBy: null, answers: null });
  partner.put('f1', rejection ?? {});
  expect(await changes(watched, 'sweep')).toEqual(['f1 filing.restored']);
  expect(await open(watched)).toBe(1);
});

it('no filing of the baseline answers another', async () => {
  const watched = await watch(row('f2', 'PENDING'), row('f1', 'REJECTED'));
  expect(await shown(watched, 'f1')).toEqual({ answeredBy: null, answers: null });
  expect(await watched.events()).toEqual([]);
});

describe('a person', () => {
  const link = ({ snapshot, answers, polling, clock, account }: Watched, id: string, by: string | null) =>
    linkAnswer({ snapshot, answers, polling, now: clock.now }, account, id, by);

  it('links and unlinks, each with an event, and only what is not so already', async () => {
    const watched = await watch(row('f1', 'REJECTED'), row('f9', 'PENDING', { policyNumber: 'other 9' }));
    expect(await link(watched, 'f1', 'f9')).toBe('linked');
    expect(await link(watched, 'f1', 'f9')).toBe('unchanged');
    expect(await shown(watched, 'f9')).toMatchObject({ answers: 'f1' });
    expect(await link(watched, 'f1', null)).toBe('linked');
    expect(await link(watched, 'f1', null)).toBe('unchanged');
    const events = await watched.events();
    expect(events.map((event) => (event as { answeredBy?: unknown }).answeredBy)).toEqual(['f9', null]);
    expect(events.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(await shown(watched, 'f9')).toMatchObject({ answers: null });
    expect(await open(watched)).toBe(1);
  });

  it('cannot link what is not rejected, unknown or removed, what answers another, nor in a circle', async () => {
    const rows = ['f1', 'f2', 'f3'].map((id) => row(id, 'REJECTED', { policyNumber: id }));
    const watched = await watch(...rows, row('f4', 'PENDING'));
    expect(await link(watched, 'f4', 'f1')).toBe('not_rejected');
    expect(await link(watched, 'f0', 'f1')).toBe('unknown');
    expect(await link(watched, 'f1', 'f0')).toBe('unknown_answer');
    expect(await link(watched, 'f1', 'f1')).toBe('unknown_answer');
    expect(await link(watched, 'f1', 'f2')).toBe('linked');
    expect(await link(watched, 'f3', 'f2')).toBe('answers_another');
    expect(await link(watched, 'f2', 'f3')).toBe('linked');
    expect(await link(watched, 'f3', 'f1')).toBe('circle');
    partner.remove('f4');
    await watched.poll('sweep');
    await watched.poll('sweep');
    expect(await link(watched, 'f3', 'f4')).toBe('unknown_answer');
  });
});

describe('both or none', () => {
  it('nothing is written where the rejection has changed since it was looked at', async () => {
    const watched = await watch(row('f1', 'REJECTED'));
    const { snapshot, account, polling } = watched;
    const [before = null] = await snapshot.read(account, ['f1']);
    if (before === null) throw new Error('it is known');
    partner.put('f1', { rejectionReason: 'another' });
    await watched.poll('sweep');
    const { generation } = await polling.read(account);
    const next = { ...before.state, status: 'UNPAID', sequence: 1 };
    const joined = { id: 'f1', previous: before, next: before.state, details: 'kept', event: null } as const;
    const birth = (id: string) => {
      const event = { id, type: 'filing.created', filingId: id, state: '', status: 'UNPAID', body: '{}' };
      return { id, previous: null, next, details: null, event };
    };
    const commits = [
      { ...birth('f2'), joined },
      { ...birth('f3'), joined: { ...joined, previous: null } },
      birth('f4'),
    ];
    const results = await snapshot.commit(account, generation, commits, watched.clock.now());
    expect(results.map(({ kind }) => kind)).toEqual(['conflict', 'conflict', 'written']);
    expect(await snapshot.read(account, ['f2', 'f3'])).toEqual([null, null]);
    const [after] = await snapshot.read(account, ['f1']);
    expect(after?.state).toMatchObject({ rejectionReason: 'another', sequence: 1 });
  });

  it('both are found again under the same ids where a crash loses them', async () => {
    const watched = await watch(row('f1', 'REJECTED'));
    const setBack = await rememberKeys(client, `${redis.prefix}${tests}`);
    partner.put('f2', row('f2', 'UNPAID'));
    await watched.poll();
    const lost = await watched.events();
    await setBack();
    const fresh = await watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false });
    expect(await fresh.events()).toEqual([]);
    await fresh.poll();
    expect((await fresh.events()).map(({ id }) => id)).toEqual(lost.map(({ id }) => id));
    expect(await shown(watched, 'f1')).toMatchObject({ answeredBy: 'f2' });
  });

  it('a process that knows only that they were converges on the same link where Redis is set back', async () => {
    const watched = await watch(row('f1', 'REJECTED'));
    const prefix = `${redis.prefix}${tests}`;
    const setBack = await rememberKeys(client, createKeys(prefix).account(watched.account).base);
    partner.put('f2', row('f2', 'UNPAID'));
    await watched.poll();
    await setBack();
    const other = await watchAccount(client, prefix, partner, { retries: false });
    for (let polls = 0; polls < 3; polls += 1) await other.pollFor('sweep');
    expect(await shown(watched, 'f1')).toMatchObject({ answeredBy: 'f2' });
    expect(await shown(watched, 'f2')).toMatchObject({ answers: 'f1' });
    const last = (await other.events()).findLast(({ filingId }) => filingId === 'f1');
    expect(last).toMatchObject({ answeredBy: 'f2', status: 'REJECTED' });
    expect(last?.sequence).toBeGreaterThan(1);
  });

  it('the process that remembers them writes them again where Redis is set back', async () => {
    const watched = await watch(row('f1', 'REJECTED'));
    const setBack = await rememberKeys(client, `${redis.prefix}${tests}`);
    partner.put('f2', row('f2', 'UNPAID'));
    await watched.poll();
    const lost = await watched.events();
    await setBack();
    await watched.poll();
    expect((await watched.events()).map(({ id }) => id)).toEqual(lost.map(({ id }) => id));
    expect(await shown(watched, 'f2')).toMatchObject({ answers: 'f1' });
    expect(await open(watched)).toBe(0);
  });
});

it('what a partner resubmits to the service answers the rejection', async () => {
  await using sandbox = await startSandbox();
  const service = { baseUrl: `${sandbox.url}/v1`, key: firstKey };
  const rejected = await sandbox.createFiling();
  const reason = { status: 'REJECTED', rejectionReason: 'Affidavit is not signed' };
  const watched = await watchAccount(client, `${redis.prefix}${tests}`, service);
  await watched.poll();
  await sandbox.control('PUT', `/filings/${rejected.id}`, reason);
  await watched.pollFor();
  const body = await sandbox.filingBody();
  const other = { ...(await sandbox.filingBody()), policyNumber: 'SL-1000' };
  await sandbox.call('POST', '/create-filing', { body: other });
  const corrected = { ...body, policyNumber: ' sl 100 ', premium: 1300 };
  const { body: answer } = await sandbox.call<{ id: string }>('POST', '/create-filing', { body: corrected });
  const events = await watched.pollFor();
  expect(events.filter(({ type }) => type === 'filing.resubmitted')).toMatchObject([
    { filingId: rejected.id, answeredBy: answer.id },
  ]);
});
