import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  accountInput,
  createApiFixture,
  operatorToken,
  type ApiFixture,
} from '../../support/api/api-fixture.ts';
import { startSandbox, type TestSandbox } from '../../support/partner/sandbox.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;
let sandbox: TestSandbox;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  sandbox = await startSandbox();
});

afterAll(async () => {
  await api.app.close();
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
});

interface Found {
  readonly items: readonly {
    readonly filingId: string;
    readonly status: string;
    readonly policyNumber: string | null;
  }[];
  readonly nextCursor: string | null;
  readonly searched?: { readonly service: string; readonly detail: string | null };
}

interface Known {
  readonly id: string;
  readonly status: string;
  readonly policyNumber?: string;
  readonly insuredsName?: string;
  readonly state?: string;
}

/** An account whose polls have seen these filings in this order, a moment apart. */
async function watch(account: string, filings: readonly Known[], settings: object = {}): Promise<string> {
  const path = `/v1/accounts/${account}`;
  await api.ok('PUT', path, { ...accountInput, baseUrl: sandbox.baseUrl, ...settings });
  for (const { id, status, policyNumber = `P-${id}`, insuredsName = 'Acme', state = 'TX' } of filings) {
    const from = Date.now();
    // oxlint-disable no-await-in-loop
    await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(from);
    const details = { policyNumber, insuredsName, stateAbbr: state };
    await api.putFilings(account, [{ id, status, details }]);
    // oxlint-enable no-await-in-loop
  }
  return `${path}/filings`;
}

async function find(path: string, query: Record<string, string>): Promise<Found> {
  return (await api.ok('GET', `${path}?${new URLSearchParams(query).toString()}`)) as unknown as Found;
}

const idsOf = ({ items }: Pick<Found, 'items'>) => items.map(({ filingId }) => filingId);

const book: readonly Known[] = [
  { id: 'f_a', status: 'REJECTED', policyNumber: 'SL-100', insuredsName: 'Müller & "Söhne" LLC' },
  { id: 'f_b', status: 'PENDING', policyNumber: 'SL-200', insuredsName: 'Acme Marine', state: 'CA' },
  { id: 'f_c', status: 'REJECTED', policyNumber: 'SL-101', insuredsName: 'ACME Trucking', state: 'CA' },
  { id: 'f_d', status: 'UNPAID', policyNumber: '.*', insuredsName: 'Zeta' },
  { id: 'done-1', status: 'COMPLETED' },
];

test('filings are found by parts of policy number, name and id in any case, the newest first', async () => {
  const path = await watch(
    'kept',
    book.filter(({ status }) => status !== 'COMPLETED'),
  );
  const of = async (q: string, more: Record<string, string> = {}) => idsOf(await find(path, { q, ...more }));
  expect(await of('acme')).toEqual(['f_c', 'f_b']);
  expect(await of('acme', { order: 'oldest' })).toEqual(['f_b', 'f_c']);
  expect(await of('sl-10')).toEqual(['f_c', 'f_a']);
  expect(await of('MARINE acme')).toEqual(['f_b']);
  expect(await of('"söhne"')).toEqual(['f_a']);
  expect(await of('F_D')).toEqual(['f_d']);
  expect(await of('acme', { status: 'rejected' })).toEqual(['f_c']);
  expect(await of('acme', { status: 'rejected,Pending', state: 'ca' })).toEqual(['f_c', 'f_b']);
});

test('what is searched for is text and no pattern, also in the ids of completed filings', async () => {
  const path = await watch('patterns', book);
  expect(idsOf(await find(path, { q: '.*' }))).toEqual(['f_d']);
  for (const q of ['d*', '[d]one'])
    // oxlint-disable-next-line no-await-in-loop
    expect(idsOf(await find(path, { q, status: 'COMPLETED' }))).toEqual([]);
  const found = await find(path, { q: 'DONE-1' });
  expect(idsOf(found)).toEqual(['done-1']);
  expect(found.searched).toEqual({ service: 'not_needed', detail: null });
});

test('a name is found in each of its forms of Unicode, and so is an id', async () => {
  const path = await watch('forms', [
    { id: 'f_1', status: 'PENDING', insuredsName: 'José Núñez'.normalize('NFC') },
    { id: 'f_2', status: 'PENDING', insuredsName: 'JOSÉ NÚÑEZ'.normalize('NFD') },
    { id: 'f_3', status: 'PENDING', insuredsName: 'İstanbul Marine' },
    { id: 'é-1', status: 'COMPLETED' },
    { id: 'E\u0301-2', status: 'COMPLETED' },
    { id: 'e-3', status: 'COMPLETED' },
  ]);
  const of = async (q: string) => idsOf(await find(path, { q }));
  expect(await of('josé'.normalize('NFC'))).toEqual(['f_2', 'f_1']);
  expect(await of('josé'.normalize('NFD'))).toEqual(['f_2', 'f_1']);
  expect(await of('istanbul')).toEqual(['f_3']);
  expect((await of('É-')).toSorted()).toEqual(['E\u0301-2', 'é-1']);
});

test('every match is on one page, whatever the page size', async () => {
  const many = Array.from({ length: 40 }, (_, i) => ({
    id: `m_${String(i).padStart(2, '0')}`,
    status: ['REJECTED', 'PENDING', 'UNPAID', 'COMPLETED'][i % 4] ?? '',
  }));
  const path = await watch('many', many);
  const kept = many.filter(({ status }) => status !== 'COMPLETED').map(({ id }) => id);
  for (const limit of ['1', '7']) {
    // oxlint-disable-next-line no-await-in-loop
    const { items } = await api.listAll<Found['items'][number]>(path, { q: 'm_', limit });
    expect(idsOf({ items }).slice(0, kept.length)).toEqual(kept.toReversed());
    expect(items.map(({ filingId }) => filingId).toSorted()).toEqual(many.map(({ id }) => id));
  }
  const byState = await api.listAll<{ filingId: string }>(path, { state: 'tx', limit: '7' });
  expect(byState.items.map(({ filingId }) => filingId)).toEqual(kept.toReversed());
});

test('the service is asked for completed filings, which are shown as they were last seen', async () => {
  const fields = { insuredsName: 'Harbor Works', policyNumber: 'SL-900' };
  await sandbox.set('h_1', { ...fields, status: 'COMPLETED' });
  await sandbox.set('h_2', { ...fields, status: 'COMPLETED' });
  await sandbox.set('h_3', { ...fields, status: 'COMPLETED' });
  const path = await watch('settled', [
    { id: 'h_1', status: 'COMPLETED' },
    { id: 'h_2', status: 'PENDING', insuredsName: 'Harbor Works' },
  ]);
  const before = await api.stored.of('settled').filingTexts();
  const found = await find(path, { q: 'harbor works' });
  expect(found.items).toMatchObject([
    { filingId: 'h_2', status: 'PENDING' },
    { filingId: 'h_1', status: 'COMPLETED', policyNumber: 'SL-900' },
  ]);
  expect(found.searched).toEqual({
    service: 'asked',
    detail: '1 of the filings that it found were seen by no poll yet.',
  });
  expect(await api.stored.of('settled').filingTexts()).toEqual(before);
  const elsewhere = await find(path, { q: 'harbor', state: 'zz' });
  expect([elsewhere.items, elsewhere.searched?.service]).toEqual([[], 'asked']);
});

test('a service that cannot be asked is named, and what is kept is found all the same', async () => {
  const path = await watch(
    'refused',
    [
      { id: 'r_1', status: 'COMPLETED' },
      { id: 'r_2', status: 'PAID', insuredsName: 'Harbor' },
    ],
    { partnerKey: 'no-such-key' },
  );
  const found = await find(path, { q: 'harbor' });
  expect(idsOf(found)).toEqual(['r_2']);
  expect(found.searched).toEqual({
    service: 'unavailable',
    detail: "The service refuses the account's key.",
  });
});

test('a table that would lack filings for a service that cannot be asked is refused', async () => {
  const path = await watch('untold', [{ id: 'u_1', status: 'PAID' }], { partnerKey: 'no-such-key' });
  const table = (query: string) =>
    api.call('GET', `${path}?q=acme${query}`, undefined, {
      headers: { accept: 'text/csv' },
      token: operatorToken,
    });
  const refused = await table('');
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '5']);
  expect(refused.headers['content-type']).toMatch(/^application\/problem\+json/);
  expect(refused.headers).not.toHaveProperty('content-disposition');
  expect(refused.body).toMatchObject({
    code: 'partner_unavailable',
    detail: expect.stringMatching(/^The service refuses the account's key\. The table would lack/) as string,
  });
  expect((await table('&status=PAID')).text).toContain('u_1,PAID,');
});

test('a list by age goes through several statuses, and a table has the same order', async () => {
  const path = await watch('aged', book);
  expect(idsOf(await find(path, { status: 'REJECTED', order: 'oldest' }))).toEqual(['f_a', 'f_c']);
  expect(idsOf(await find(path, { status: 'UNPAID,REJECTED' }))).toEqual(['f_d', 'f_c', 'f_a']);
  const { text } = await api.call(
    'GET',
    `${path}?status=REJECTED&order=newest&columns=account,filingId`,
    undefined,
    {
      headers: { accept: 'text/csv' },
      token: operatorToken,
    },
  );
  expect(text).toBe('account,filingId\r\naged,f_c\r\naged,f_a\r\n');
});

test.each([
  ['status=rejectd', 'status', /"rejectd" is no status .*did you mean REJECTED\?/],
  ['status=REJECTED,DONE', 'status', /"DONE" is no status/],
  ['state=TX&status=COMPLETED', 'state', /add q/],
  ['q=a&order=id', 'order', /Known: newest, oldest/],
  ['q=%20', 'q', /not blank/],
  ['columns=filingid', 'columns', /did you mean filingId\?/],
])('%s is refused with what to do', async (query, path, message) => {
  await api.createAccount('wrong');
  const { status, body } = await api.call('GET', `/v1/accounts/wrong/filings?${query}`);
  expect(status).toBe(422);
  expect(body).toMatchObject({ errors: [{ path, message: expect.stringMatching(message) }] });
});
