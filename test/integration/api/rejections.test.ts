import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiFixture, operatorToken, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

interface Board {
  readonly items: readonly {
    readonly account: string;
    readonly filingId: string;
    readonly since: string;
    readonly policyEffectiveDate: string | null;
    readonly dueAt: string | null;
  }[];
  readonly total: number;
  readonly byReason: readonly { readonly reason: string | null; readonly count: number }[];
  readonly byState: readonly { readonly state: string | null; readonly count: number }[];
  readonly groupsComplete: boolean;
  readonly accounts: readonly {
    readonly account: string;
    readonly health: string;
    readonly asOf: string | null;
  }[];
}

async function board(query = '', token = operatorToken): Promise<Board> {
  const { status, body, text } = await api.call('GET', `/v1/rejections${query}`, undefined, { token });
  if (status !== 200) throw new Error(text);
  return body as unknown as Board;
}

const idsOf = ({ items }: Pick<Board, 'items'>) =>
  items.map(({ account, filingId }) => `${account}/${filingId}`);

async function reject(account: string, id: string, type = 'filing.rejected'): Promise<void> {
  await api.putFilings(account, [{ id, status: 'REJECTED', type }]);
  // Each has a time of its own.
  const from = Date.now();
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(from + 1);
}

test('the board has the rejections of all accounts, the oldest first, and pages through them', async () => {
  await api.createAccount('east');
  await api.createAccount('west');
  for (const [account, id] of [
    ['east', 'f_1'],
    ['west', 'f_2'],
    ['east', 'f_3'],
    ['west', 'f_4'],
  ] as const)
    await reject(account, id);
  await api.putFilings('west', [{ id: 'f_5', status: 'PENDING' }]);
  const oldest = ['east/f_1', 'west/f_2', 'east/f_3', 'west/f_4'];
  const all = await board();
  expect(idsOf(all)).toEqual(oldest);
  expect(all).toMatchObject({
    total: 4,
    byReason: [{ reason: null, count: 4 }],
    byState: [{ state: 'TX', count: 4 }],
    groupsComplete: true,
  });
  expect(idsOf(await board('?order=newest'))).toEqual(oldest.toReversed());
  const paged = await api.listAll<Board['items'][number]>('/v1/rejections', { limit: '1' });
  expect(idsOf(paged)).toEqual(oldest);
  expect(idsOf(await board('?account=west'))).toEqual(['west/f_2', 'west/f_4']);
  expect(idsOf(await board('?state=tx&reason='))).toEqual(oldest);
  expect(idsOf(await board('?state=CA'))).toEqual([]);

  const { token } = await api.ok('POST', '/v1/accounts/east/tokens', { name: 'a', readOnly: true });
  const own = await board('', String(token));
  expect(idsOf(own)).toEqual(['east/f_1', 'east/f_3']);
  expect(own.accounts.map(({ account }) => account)).toEqual(['east']);
  const foreign = await api.call('GET', '/v1/rejections?account=west', undefined, { token: String(token) });
  expect(foreign.status).toBe(404);
});

test('reasons that differ in case or form are one group, and each of them selects it', async () => {
  await api.createAccount('forms');
  const reason = `José's declaration is missing. ${'é'.repeat(200)}`;
  for (const [id, text] of [
    ['f_1', reason.normalize('NFC')],
    ['f_2', reason.normalize('NFD')],
    ['f_3', reason.toUpperCase()],
  ] as const)
    await api.putFilings('forms', [{ id, status: 'REJECTED', rejectionReason: text }]);
  const [shown] = (await board('?account=forms')).byReason;
  expect(shown).toMatchObject({ count: 3, reason: expect.stringMatching(/^José/iu) });
  for (const asked of [shown?.reason ?? '', (shown?.reason ?? '').toUpperCase()])
    expect((await board(`?account=forms&reason=${encodeURIComponent(asked)}`)).items).toHaveLength(3);
});

test('an account that was never read is unknown, and says since when it is believed once it was', async () => {
  await api.createAccount('new');
  expect((await board('?account=new')).accounts).toEqual([
    { account: 'new', health: 'unknown', asOf: null, rejections: null, open: null, rejectionsCovered: false },
  ]);
  await api.putFilings('new', [{ id: 'f_1', status: 'PENDING' }]);
  await api.stored.of('new').completePoll((await api.deps.polling.read('new')).generation);
  expect((await board('?account=new')).accounts).toEqual([
    {
      account: 'new',
      health: 'ok',
      asOf: expect.any(String),
      rejections: 0,
      open: 0,
      rejectionsCovered: false,
    },
  ]);
});

test('rejections are listed by their due dates, which come from the rules of each account', async () => {
  const day = 86_400_000;
  const rule = { due: { TX: 'P60D', '*': 'P45D' } };
  const states: Record<string, [account: string, state: string, age: number | null]> = {
    over: ['due-a', 'TX', 61],
    soon: ['due-a', 'NY', 40],
    later: ['due-b', 'TX', 20],
    never: ['due-none', 'TX', 90],
    dateless: ['due-a', 'TX', null],
  };
  for (const account of ['due-a', 'due-b', 'due-none']) await api.createAccount(account);
  for (const account of ['due-a', 'due-b']) await api.ok('PATCH', `/v1/accounts/${account}`, rule);
  for (const [id, [account, stateAbbr, age]] of Object.entries(states)) {
    const policyEffectiveDate = age === null ? null : new Date(Date.now() - age * day).toISOString();
    const details = { stateAbbr, policyEffectiveDate };
    await api.putFilings(account, [{ id, status: 'REJECTED', type: 'filing.rejected', details }]);
  }
  const ofThese = async (query: Record<string, string>) =>
    (await api.listAll<Board['items'][number]>('/v1/rejections', { limit: '2', ...query })).items
      .map(({ filingId }) => filingId)
      .filter((id) => id in states);
  expect(await ofThese({ order: 'due' })).toEqual(['over', 'soon', 'later', 'never', 'dateless']);
  expect(await ofThese({ due: 'overdue' })).toEqual(['over']);
  expect(await ofThese({ due: 'P7D', order: 'due' })).toEqual(['over', 'soon']);
  expect(await ofThese({ due: 'none' })).toEqual(['never', 'dateless']);
  const [later] = (await board('?account=due-b')).items;
  expect(Date.parse(later?.dueAt ?? '') - Date.parse(later?.policyEffectiveDate ?? '')).toBe(60 * day);
  const wrong = await api.call('GET', '/v1/rejections?due=soon');
  expect([wrong.status, wrong.body['errors']]).toEqual([422, [expect.objectContaining({ path: 'due' })]]);
  const own = await api.ok('GET', '/v1/accounts/due-a/filings?status=REJECTED,PENDING&order=due');
  expect(own['items']).toMatchObject([{ filingId: 'over' }, { filingId: 'soon' }, { filingId: 'dateless' }]);
});

test('what is noted counts for the quota of the account', async () => {
  const path = await api.createAccount('quota');
  await reject('quota', 'f_1');
  const used = async () => ((await api.ok('GET', path))['quota'] as { usedBytes: number }).usedBytes;
  const before = await used();
  await api.ok('PUT', `${path}/filings/f_1/seen`, { by: 'Dana', note: 'x'.repeat(500) });
  expect(await used()).toBeGreaterThan(before + 500);
});

test('the board is a table too, with the account and who has seen it', async () => {
  await api.createAccount('table');
  await reject('table', 'f_1');
  await api.ok('PUT', '/v1/accounts/table/filings/f_1/seen', { by: '=Dana' });
  const { text } = await api.call('GET', '/v1/rejections?account=table', undefined, {
    headers: { accept: 'text/csv' },
  });
  const [head, line] = text.split('\r\n');
  expect(head).toBe(
    'account,filingId,since,insuredsName,policyNumber,stateAbbr,filingType,premium,rejectionReason,sinceIsFirstRead,carriersName,createdAt,policyEffectiveDate,dueAt,seenBy,seenNote,seenAt,assignee,note,answeredBy,answers,told',
  );
  expect(line).toMatch(/^table,f_1,[^,]+,Acme,P-f_1,TX,NEW_BUSINESS,12\.5,,.*,'=Dana,,20/);
});

test('what another filing answers is left out, and shown on wish', async () => {
  const path = await api.createAccount('answers');
  await reject('answers', 'f_1');
  await reject('answers', 'f_2');
  await api.putFilings('answers', [{ id: 'f_3', status: 'PENDING' }]);
  const { generation } = await api.deps.polling.read('answers');
  await api.stored.of('answers').completePoll(generation);
  api.calls.length = 0;
  const linked = await api.ok('PUT', `${path}/filings/f_1/answer`, { answeredBy: 'f_3' });
  expect(linked).toMatchObject({ answeredBy: 'f_3', answers: null, sequence: 2 });
  expect(api.calls).toEqual([['wake', 'answers']]);
  expect(await api.ok('GET', `${path}/filings/f_3`)).toMatchObject({ answeredBy: null, answers: 'f_1' });
  const rest = await board('?account=answers');
  expect([idsOf(rest), rest.total]).toEqual([['answers/f_2'], 1]);
  expect(rest.accounts).toMatchObject([{ account: 'answers', rejections: 2, open: 1 }]);
  const answered = await board('?account=answers&open=false');
  expect([idsOf(answered), answered.total]).toEqual([['answers/f_1'], 1]);
  expect(answered.items).toMatchObject([{ answeredBy: 'f_3' }]);
  expect(await api.ok('GET', path)).toMatchObject({ counts: { REJECTED: 2 }, open: 1 });
  const listed = await api.listAll<{ filingId: string }>(`${path}/filings`, { status: 'REJECTED' });
  expect(listed.items.map(({ filingId }) => filingId)).toEqual(['f_2', 'f_1']);
  const csv = await api.call('GET', '/v1/rejections?account=answers', undefined, {
    headers: { accept: 'text/csv' },
  });
  expect(csv.text.split('\r\n')).toHaveLength(3);
  expect((await api.call('DELETE', `${path}/filings/f_1/answer`)).status).toBe(204);
  expect(idsOf(await board('?account=answers'))).toEqual(['answers/f_1', 'answers/f_2']);
  const events = await api.ok('GET', `${path}/filings/f_1`);
  expect((events['events'] as { data: object }[]).map(({ data }) => data)).toMatchObject([
    {},
    { answeredBy: 'f_3', omitted: 'not_kept' },
    { answeredBy: null },
  ]);
});

test.each([
  ['f_3', { answeredBy: 'f_1' }, 409, 'filing_not_rejected'],
  ['f_0', { answeredBy: 'f_3' }, 404, 'filing_not_found'],
  ['f_1', { answeredBy: 'f_0' }, 422, 'invalid_request'],
  ['f_1', { answeredBy: 'f_1' }, 422, 'invalid_request'],
  ['f_1', {}, 422, 'invalid_request'],
])('%s is not linked with %j', async (id, body, status, code) => {
  const path = `/v1/accounts/answers/filings/${id}/answer`;
  expect(await api.call('PUT', path, body)).toMatchObject({ status, body: { code } });
});
