import { afterAll, beforeAll, expect, test } from 'vitest';
import { openApi, type ApiCaller } from '../support/api/api-caller.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { receiverSecret, startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';

const base = '/v1/accounts/acme';
const key = 'known-to-the-first-receiver';
const redis = testRedis();
let daemon: DaemonProcess;
let holder: ApiCaller;
let first: Receiver;
let second: Receiver;

beforeAll(async () => {
  [first, second] = await Promise.all([startReceiver(), startReceiver()]);
  daemon = await startDaemonProcess({ REDIS_URL: redis.url, REDIS_PREFIX: redis.prefix });
  await daemon.api.ok('PUT', base, { baseUrl: 'http://127.0.0.1:1/v1', partnerKey: 'k' });
  const { token } = await daemon.api.ok<{ token: string }>('POST', `${base}/tokens`);
  holder = openApi(daemon.url, token);
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await first[Symbol.asyncDispose]();
  await second[Symbol.asyncDispose]();
  await redis.cleanup();
});

async function register(): Promise<string> {
  const { id } = await daemon.api.ok<{ id: string }>('POST', `${base}/subscriptions`, {
    url: first.url,
    headers: { 'x-api-key': key },
    secret: receiverSecret,
  });
  return `${base}/subscriptions/${id}`;
}

/** What the second receiver gets of a test call: the header, and whether the former secret has signed it. */
async function arrival(path: string): Promise<{ header: unknown; former: boolean }> {
  const [before, refusedBefore] = [second.received.length, second.refused.length];
  await daemon.api.ok('POST', `${path}/test`);
  const [callback] = second.received.slice(before);
  if (callback !== undefined) return { header: callback.headers['x-api-key'], former: true };
  expect(second.refused.length).toBe(refusedBefore + 1);
  return { header: undefined, former: false };
}

interface Changed {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly dropped?: readonly string[];
  readonly secret?: string;
}

test('a token of the account cannot have header values and signatures sent to another origin', async () => {
  const path = await register();
  const changed = await holder.ok<Changed>('PATCH', path, { url: second.url });
  expect(changed).toMatchObject({ url: second.url, headers: {}, dropped: ['headers', 'secret'] });
  expect(await arrival(path)).toEqual({ header: undefined, former: false });
  second.secrets = [changed.secret ?? ''];
  expect(await arrival(path)).toEqual({ header: undefined, former: true });
  second.secrets = [receiverSecret];
  await holder.ok('PATCH', path, { url: first.url });
  expect(await holder.ok('GET', path)).toMatchObject({ headers: {} });
});

test('what is given anew goes along, and nothing is dropped within the origin', async () => {
  const path = await register();
  const within = await holder.ok<Changed>('PATCH', path, { url: `${first.url}/other` });
  expect(within).toMatchObject({ headers: { 'x-api-key': '***' } });
  expect(within).not.toHaveProperty('dropped');
  const anew = { url: second.url, headers: { 'x-api-key': 'another' }, secret: receiverSecret };
  const moved = await holder.ok<Changed>('PATCH', path, anew);
  expect(moved).not.toHaveProperty('dropped');
  expect(moved).not.toHaveProperty('secret');
  expect(await arrival(path)).toEqual({ header: 'another', former: true });
});

test('the operator moves the secret along, and not the header values', async () => {
  const path = await register();
  const changed = await daemon.api.ok<Changed>('PATCH', path, { url: second.url });
  expect(changed).toMatchObject({ dropped: ['headers'], headers: {} });
  expect(changed).not.toHaveProperty('secret');
  expect(await arrival(path)).toEqual({ header: undefined, former: true });
});
