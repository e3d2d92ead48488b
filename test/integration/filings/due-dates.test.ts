import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPresentFilings } from '../../../src/filings/present-filings.ts';
import { withoutPageLinks } from '../../../src/events/page-link.ts';
import { createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(client, redis.prefix);
});
afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

interface Body {
  readonly type: string;
  readonly data: { readonly dueAt?: string | null };
}

test('events that no read of a filing leads to say when it is due, where the account has rules', async () => {
  const path = await api.createAccount('dated');
  await api.ok('PATCH', path, { due: { TX: 'P60D' } });
  const details = { policyEffectiveDate: '2026-01-01T00:00:00.000Z' };
  await api.putFilings('dated', [
    { id: 'f_1', status: 'REJECTED', details },
    { id: 'f_2', status: 'PENDING', details: { ...details, stateAbbr: 'NY' } },
  ]);
  const { readDueRules } = api.deps;
  const present = createPresentFilings(client, api.keys, 100_000, withoutPageLinks, readDueRules);
  const snapshot = async (id: string) =>
    JSON.parse((await present.read('dated', 'sub_1', id))?.event.body ?? '') as Body;
  const newest = async (id: string) =>
    ((await api.ok('GET', `${path}/filings/${id}`))['events'] as readonly Body[]).at(-1);

  const dueAt = '2026-03-02T00:00:00.000Z';
  await api.ok('POST', `${path}/filings/f_1/notes`, { by: 'Dana', text: 'asked' });
  expect(await newest('f_1')).toMatchObject({ type: 'filing.noted', data: { dueAt } });
  await api.ok('POST', `${path}/filings/f_2/notes`, { by: 'Dana', text: 'asked' });
  expect(await newest('f_2')).toMatchObject({ type: 'filing.noted', data: { dueAt: null } });
  await api.ok('PUT', `${path}/filings/f_1/answer`, { answeredBy: 'f_2' });
  expect(await newest('f_1')).toMatchObject({ type: 'filing.resubmitted', data: { dueAt } });
  expect(await snapshot('f_1')).toMatchObject({ type: 'filing.snapshot', data: { dueAt } });

  await api.ok('PATCH', path, { due: null });
  await api.ok('DELETE', `${path}/filings/f_1/answer`);
  for (const body of [await newest('f_1'), await snapshot('f_1')])
    expect(body?.data).not.toHaveProperty('dueAt');
});
