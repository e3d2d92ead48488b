import { apiToken, startDaemonProcess } from '../support/daemon/daemon-process.ts';
import type { HttpRequest } from '../security/slow-search/http-request.ts';
import { createMeter } from '../security/slow-search/measured-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { median, print } from './support/statistics.ts';

const tries = 5;
const path = '/v1/accounts/slow/subscriptions';
const plain = { url: 'https://example.invalid/' };
const list = (length: number, item: unknown) => Array.from({ length }, () => item);
const fields = (count: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`h${i.toString(36)}`, value]));

const open = (headers: HttpRequest['headers'], target = '/'): HttpRequest => ({
  method: 'GET',
  target,
  headers: [['host', 'localhost'], ...headers],
  body: '',
});
const post = (body: unknown, target = path): HttpRequest => ({
  method: 'POST',
  target,
  headers: [
    ['host', 'localhost'],
    ['authorization', `Bearer ${apiToken}`],
    ['content-type', 'application/json'],
  ],
  body: typeof body === 'string' ? body : JSON.stringify(body),
});
const long = 15_000;

const requests: Readonly<Record<string, HttpRequest>> = {
  'plain: GET /': open([['accept-encoding', 'gzip, deflate, br']]),
  'Accept-Encoding of 15 000 digits': open([['accept-encoding', `gzip;q=0.${'1'.repeat(long)} x`]]),
  'Accept-Encoding of 7 500 codings': open([['accept-encoding', 'a,'.repeat(long / 2)]]),
  'If-None-Match of 5 000 tags': open([['if-none-match', 'W/"'.repeat(long / 3)]]),
  'Authorization of 15 000 blanks': open([['authorization', `Bearer${' '.repeat(long)}`]], '/v1/accounts'),
  'query of 2 500 parameters': open(
    [['authorization', `Bearer ${apiToken}`]],
    `/v1/accounts/slow/events?${Array.from({ length: 2_500 }, (_, i) => `${i.toString(36)}=`).join('&')}`,
  ),
  'plain: POST a wrong subscription': post({ url: 5 }),
  'eventTypes of 60 000 zeros': post({ ...plain, eventTypes: list(60_000, 0) }),
  'eventTypes of 50 000 nulls': post({ ...plain, eventTypes: list(50_000, null) }),
  'eventTypes of 20 000 equal names': post({ ...plain, eventTypes: list(20_000, 'filing.*') }),
  'states of 100 000 zeros': post({ ...plain, states: list(100_000, 0) }),
  'one state of 100 000 zeros': post({ ...plain, states: [list(100_000, 0)] }),
  '20 000 header names': post({ ...plain, headers: fields(20_000, '') }),
  '20 000 unknown fields': post(fields(20_000, 0)),
  'a field with a name of 250 000': post({ ['x'.repeat(250_000)]: 1 }),
  'nested 120 000 deep': post(`{"url":${'['.repeat(120_000)}${']'.repeat(120_000)}}`),
};

/**
 * The processor time that the main thread of the daemon takes for requests made to hold its event loop,
 * beside plain ones of the same run: the time for which every other client waits.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('in memory');
  await using meter = await createMeter();
  await using daemon = await startDaemonProcess({
    ...meter.environment,
    REDIS_URL: redis.url,
    REDIS_UNSAFE: 'true',
    ROLES: 'api',
  });
  const account = { baseUrl: 'http://127.0.0.1:9001/v1', partnerKey: 'k' };
  await daemon.api.ok('PUT', '/v1/accounts/slow', account);
  using measured = await meter.costsAt(Number(new URL(daemon.url).port));
  for (let i = 0; i < 50; i += 1)
    for (const request of [open([]), post({ url: 5 })]) await measured.costOf(request);
  for (const [name, request] of Object.entries(requests)) {
    const taken: number[] = [];
    for (let i = 0; i < tries; i += 1) taken.push(await measured.costOf(request));
    const bytes = request.body.length === 0 ? '' : `${Math.round(request.body.length / 1024)} KiB`;
    print(name, {
      'median ms': median(taken),
      'max ms': Math.max(...taken),
      ...(bytes === '' ? {} : { body: bytes }),
    });
  }
}
