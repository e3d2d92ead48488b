import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startRawReceiver } from '../support/receivers/raw-receiver.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { receiverSecret, startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';
import { expectNone } from '../support/expect-none.ts';

const base = '/v1/accounts/default';
const formats = ['standard', 'cloudevents', 'slack', 'teams'] as const;
const corpus: Readonly<Record<string, string>> = {
  image: '<img src=x onerror=alert(1)>',
  script: '</script><script>alert(2)</script>',
  bidi: 'start \u202Eevil\u202C \u2066isolated \u200D\u200F\uFEFF',
  surrogates: 'lone \uD800 and \uDC00 halves \uD83D\uDE00',
  controls: 'one\r\ntwo\ttabs \u0000\u001B[31m\u007F\u0085\u2028\u2029',
  json: '","x":{"__proto__":null}\\\\u0041\\',
  template: '${1} {{1}} %s %00 &lt;b&gt; `',
  long: 'W'.repeat(3_000),
};
const words = Object.entries(corpus);

const redis = testRedis();
let sandbox: TestSandbox;
let daemon: DaemonProcess;
let receivers: Receiver[];

beforeAll(async () => {
  sandbox = await startSandbox();
  receivers = await Promise.all(formats.map(() => startReceiver()));
  daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
  });
  for (const [i, format] of formats.entries()) {
    const { url = '' } = receivers[i] ?? {};
    await daemon.api.ok('POST', `${base}/subscriptions`, { url, format, secret: receiverSecret });
  }
  await vi.waitUntil(
    async () => ((await daemon.api.call('GET', base)).body['health'] as { state: string }).state === 'ok',
    15_000,
  );
  for (const [name, text] of words)
    await sandbox.set(`f_${name}`, { status: 'REJECTED', rejectionReason: text, insuredsName: text });
}, 60_000);

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  for (const receiver of receivers) await receiver[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
});

/** The bodies that a receiver has taken, their signatures verified with the libraries of receivers. */
async function bodiesAt(format: (typeof formats)[number]): Promise<Record<string, unknown>[]> {
  const receiver = receivers[formats.indexOf(format)];
  await expect.poll(() => receiver?.accepted.length, { timeout: 20_000 }).toBe(words.length);
  expect(receiver?.refused).toEqual([]);
  return (receiver?.accepted ?? []).map(({ raw }) => JSON.parse(raw) as Record<string, unknown>);
}

const textsOf = (data: unknown) => {
  const { rejectionReason, filing } = data as { rejectionReason: string; filing: { insuredsName: string } };
  return JSON.stringify([rejectionReason, filing.insuredsName]);
};
const expected = new Set(words.map(([, text]) => JSON.stringify([text, text])));

describe('names and reasons that attackers wrote', () => {
  test.each(['standard', 'cloudevents'] as const)('arrive as they are in the format %s', async (format) => {
    const bodies = await bodiesAt(format);
    expect(new Set(bodies.map(({ data }) => textsOf(data)))).toEqual(expected);
  });

  test('mark up nothing in Slack', async () => {
    const texts = (await bodiesAt('slack')).map((body) => JSON.stringify(body));
    expectNone(
      texts,
      (text) => /<(?!!date\^\d+\^\{date_short_pretty\} \{time\}\|)[^>]*>/.test(text),
      'texts',
    );
    expect(texts.some((text) => text.includes('&lt;img src=x onerror=alert(1)&gt;'))).toBe(true);
  });

  test('stand in Teams where nothing is marked up', async () => {
    const cards = (await bodiesAt('teams')).map((body) => JSON.stringify(body));
    expectNone(cards, (card) => card.includes(`"TextBlock"`) || card.includes('FactSet'), 'cards');
    expect(cards.some((card) => card.includes('<img src=x onerror=alert(1)>'))).toBe(true);
  });

  test('are in the log of events and in the filing as they are', async () => {
    await bodiesAt('standard');
    const { items } = await daemon.api.ok<{ items: { data: unknown }[] }>('GET', `${base}/events`);
    expect(new Set(items.map(({ data }) => textsOf(data)))).toEqual(expected);
    for (const [name, text] of words) {
      const filing = await daemon.api.ok('GET', `${base}/filings/f_${name}`);
      expect(filing).toMatchObject({ rejectionReason: text });
    }
  });

  test('write nothing into logs and metrics', async () => {
    await bodiesAt('slack');
    const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
    const said = JSON.stringify(daemon.logs) + metrics;
    expectNone(words, ([, text]) => said.includes(JSON.stringify(text).slice(1, -1)), 'texts');
  });
});

test('what a receiver answers is in the attempts, and nowhere in logs and metrics', async () => {
  const word = 'said-by-the-receiver';
  const statuses = [
    `500 ${word}`,
    `302 Found\r\nlocation: http://${word}/`,
    `429 No\r\nretry-after: ${word}`,
  ];
  await using hostile = await startRawReceiver((socket) =>
    socket.end(
      `HTTP/1.1 ${statuses.shift() ?? '503 No'}\r\nx-${word}: ${word}\r\nconnection: close\r\n\r\n{"${word}"}`,
    ),
  );
  const { id } = await daemon.api.ok<{ id: string }>('POST', `${base}/subscriptions`, { url: hostile.url });
  await sandbox.set('f_answered', { status: 'PAID' });
  const attempts = async () =>
    JSON.stringify(await daemon.api.ok('GET', `${base}/subscriptions/${id}/attempts`));
  await expect.poll(attempts, { timeout: 20_000 }).toMatch(new RegExp(`(${word}.*){4}`));
  await expect.poll(() => JSON.stringify(daemon.logs).split(id).length).toBeGreaterThan(4);
  const metrics = await (await fetch(`${daemon.url}/metrics`)).text();
  expect(JSON.stringify(daemon.logs) + metrics).not.toContain(word);
});
