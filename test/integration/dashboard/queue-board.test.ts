import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { AppControllerRoute } from '@bull-board/api/typings/app';
import { createQueueBoard } from '../../../src/dashboard/queue-board.ts';
import { createDrainQueue, type DrainQueue } from '../../../src/delivery/drain-queue.ts';
import { createPollQueue, type PollQueue } from '../../../src/polling/schedule/poll-queue.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createApiFixture, operatorToken, type ApiFixture } from '../../support/api/api-fixture.ts';

const redis = testRedis();
const rethrow = (error: Error) => {
  throw error;
};
const asOperator = { authorization: `Bearer ${operatorToken}` };
let now = Date.now();
let storeProblem: string | null = null;
let polls: PollQueue;
let drains: DrainQueue;
let api: ApiFixture;

beforeAll(async () => {
  const { queues } = createKeys(redis.prefix);
  polls = createPollQueue(redis.connect(), queues, rethrow);
  drains = createDrainQueue(redis.connect(), queues, rethrow);
  await polls.schedule('default', 60_000);
  await drains.wake('default', ['sub_a', 'sub_b']);
  api = await createApiFixture(redis.connect(), redis.prefix, {
    queueBoard: createQueueBoard([polls.queue, drains.queue]),
    now: () => now,
    storeProblem: async () => storeProblem,
  });
});

afterAll(async () => {
  await api.app.close();
  await polls.close();
  await drains.close();
  await redis.cleanup();
});

function ask(
  path: string,
  headers: Record<string, string> = asOperator,
  method: 'GET' | 'PUT' | 'POST' = 'GET',
) {
  return api.app.inject({ method, url: `/queues${path}`, headers });
}

async function beginSession(headers: Record<string, string> = {}) {
  const answer = await ask('/session', { ...asOperator, ...headers }, 'POST');
  expect(answer.statusCode).toBe(204);
  const cookie = String(answer.headers['set-cookie']);
  return { cookie, pair: cookie.split(';', 1)[0] ?? '' };
}

test('the queues are shown with the jobs that there are', async () => {
  const { queues } = (await ask('/api/queues?activeQueue=drain&status=latest')).json<{
    queues: { name: string; counts: { waiting: number }; jobs: { data: object }[]; readOnlyMode: boolean }[];
  }>();
  expect(queues.map(({ name, counts }) => [name, counts.waiting])).toEqual([
    ['poll', 1],
    ['drain', 2],
  ]);
  expect(queues.every(({ readOnlyMode }) => readOnlyMode)).toBe(true);
  expect(queues[1]?.jobs.map(({ data }) => data)).toContainEqual({
    account: 'default',
    subscription: 'sub_a',
  });
});

describe('the page', () => {
  test.each([
    ['/', './'],
    ['/queue/poll', '../'],
    ['/queue/poll/1?status=latest', '../../'],
  ])(
    'at %s stands on the folder of the board and holds nothing inline and nothing from elsewhere',
    async (path, base) => {
      const { body, headers } = await ask(path);
      expect(headers['content-type']).toMatch(/^text\/html/);
      expect(body).toContain(`<base href="${base}" />`);
      const scripts = [...body.matchAll(/<script([^>]*)>/g)].map(([, attributes = '']) => attributes);
      expect(scripts.filter((attributes) => !/ src=| type="application\/json"/.test(attributes))).toEqual([]);
      expect(body).not.toMatch(/<style|style=|\son\w+=|"https?:/);
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers['content-security-policy']).toContain(
        "default-src 'none'; script-src 'self'; style-src 'self'",
      );
      const files = [...body.matchAll(/(?:src|href)="(static\/[^"]+)"/g)].map(([, file = '']) => file);
      expect(files.length).toBeGreaterThan(4);
      for (const file of files) expect([file, (await ask(`/${file}`)).statusCode]).toEqual([file, 200]);
    },
  );

  test.each(['/static/../package.json', '/static/%2e%2e/index.ejs', '/static/nothing.js', '/nowhere'])(
    'has nothing at %s',
    async (path) => {
      expect((await ask(path)).statusCode).toBe(404);
    },
  );
});

test('whatever the library would change, it is refused', async () => {
  const { appRoutes } = (await import('@bull-board/api/dist/routes.js')) as {
    appRoutes: { api: AppControllerRoute[] };
  };
  const changing = appRoutes.api.filter(({ method }) => ![method].flat().includes('get'));
  expect(changing.length).toBeGreaterThan(10);
  for (const { route } of changing) {
    const path = [route].flat()[0]?.replace(':queueName', 'poll').replaceAll(/:\w+/g, '1') ?? '';
    for (const method of ['PUT', 'POST'] as const) {
      expect([path, (await ask(path, asOperator, method)).statusCode]).toEqual([path, 405]);
    }
  }
});

describe('a session of a browser', () => {
  test('opens the page, and nothing but this page, to reading', async () => {
    const { cookie, pair } = await beginSession();
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(operatorToken);
    expect((await ask('/', { cookie: `other=1; ${pair}` })).statusCode).toBe(200);
    expect((await ask('/session', { cookie: pair }, 'POST')).statusCode).toBe(401);
    const elsewhere = await api.app.inject({ url: '/v1/accounts', headers: { cookie: pair } });
    expect(elsewhere.statusCode).toBe(401);
  });

  test('stays with TLS where the browser came over TLS', async () => {
    const { cookie } = await beginSession({ origin: 'https://hooks.example.com' });
    expect(cookie).toMatch(/; Secure$/);
  });

  test('runs out after eight hours, and cannot be drawn out or made up', async () => {
    const { pair } = await beginSession();
    const [name = '', until = '', signature = ''] = pair.split(/[=.]/);
    const later = `${name}=${Number(until) + 60_000}.${signature}`;
    for (const cookie of [later, `${name}=${until}.${'A'.repeat(43)}`, `${name}=`, `x${pair}`]) {
      expect([cookie, (await ask('/', { cookie })).statusCode]).toEqual([cookie, 401]);
    }
    now += 8 * 3_600_000 - 1;
    expect((await ask('/', { cookie: pair })).statusCode).toBe(200);
    now += 1;
    expect((await ask('/', { cookie: pair })).statusCode).toBe(401);
  });

  test('opens nothing of a store that was emptied', async () => {
    const { pair } = await beginSession();
    storeProblem = 'The store was emptied.';
    onTestFinished(() => void (storeProblem = null));
    expect((await ask('/', { cookie: pair })).json()).toMatchObject({ status: 503, code: 'store_emptied' });
  });

  test('is forgotten on request', async () => {
    const { headers } = await api.app.inject({
      method: 'DELETE',
      url: '/queues/session',
      headers: asOperator,
    });
    expect(headers['set-cookie']).toMatch(/^filing_webhooks_queues=; .*Max-Age=0$/);
  });
});
