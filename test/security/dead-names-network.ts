import { createServer } from 'node:http';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPrivateRedis } from '../bench/support/private-redis.ts';
import { startStubResolver } from '../support/connections/stub-resolver.ts';
import { openApi } from '../support/api/api-caller.ts';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox } from '../support/partner/sandbox.ts';

/** What one account does with names whose servers are dead, and what another one notices of it. */
export interface DeadNamesReport {
  /** Questions for names in bodies that are refused for something else, and the statuses of those requests. */
  readonly refused: { readonly asked: number; readonly statuses: readonly number[] };
  /** Statuses of the registrations of dead names. */
  readonly registered: readonly number[];
  /** Outcomes of the neighbour's test calls, each on a new connection, while the others were under way. */
  readonly neighbour: readonly string[];
  /** Whether a callback to a dead name had ended before the last of these. */
  readonly deadEndedBefore: boolean;
  /** Whether the neighbour was polled meanwhile, at a partner service that is known by name. */
  readonly polled: boolean;
  /** Outcomes of the callbacks to dead names. */
  readonly dead: readonly string[];
}

const count = 100;
const outside = '93.184.216.34';
const server = createServer((_, response) => response.setHeader('connection', 'close').end());
server.listen({ port: 80, host: '::' });
await once(server, 'listening');
const resolver = await startStubResolver((name) => (name.endsWith('.dead.example') ? 'silence' : [outside]));
await using sandbox = await startSandbox();
await using redis = await startPrivateRedis('everysec');
await using daemon = await startDaemonProcess({ REDIS_URL: redis.url, DELIVERY_ALLOW_CIDRS: '' });
const operator = daemon.api;

async function account(name: string, baseUrl: string) {
  await operator.ok('PUT', `/v1/accounts/${name}`, { baseUrl, partnerKey: 'sandbox-key' });
  const { token } = await operator.ok<{ token: string }>('POST', `/v1/accounts/${name}/tokens`);
  return { api: openApi(daemon.url, token), base: `/v1/accounts/${name}` };
}

interface Registered {
  readonly id: string;
}

const evil = await account('evil', sandbox.baseUrl);
for (let i = 0; i < 8; i += 1) await account(`dead-${i}`, `http://partner-${i}.dead.example/v1`);
const good = await account('good', sandbox.baseUrl.replace('127.0.0.1', 'localhost'));
const { id } = await good.api.ok<Registered>('POST', `${good.base}/subscriptions`, {
  url: 'http://hooks.example/',
});
const lastPoll = async () =>
  (await operator.ok<{ health: { lastPollAt: string | null } }>('GET', good.base)).health.lastPollAt;

const isBaselined = async (base: string) =>
  (await operator.ok<{ health: { state: string } }>('GET', base)).health.state === 'ok';
while (!(await isBaselined(evil.base)) || !(await isBaselined(good.base))) await sleep(50);

const url = (i: number) => `http://h${i}.dead.example/`;
const numbers = Array.from({ length: count }, (_, i) => i);
const bad = await Promise.all(
  numbers.map((i) => evil.api.call('POST', `${evil.base}/subscriptions`, { url: url(i), bogus: 1 })),
);
const askedFor = resolver.asked.filter((name) => /^h\d+\./.test(name)).length;
const made = await Promise.all(
  numbers.map((i) => evil.api.call<Registered>('POST', `${evil.base}/subscriptions`, { url: url(i) })),
);

const outcomesOf = async (registered: Registered) => {
  const path = `${evil.base}/subscriptions/${registered.id}/attempts`;
  const { items } = await evil.api.ok<{ items: { outcome: string }[] }>('GET', path);
  return items.map(({ outcome }) => outcome);
};
const anyOutcomes = async () =>
  (await Promise.all(made.slice(0, 5).map(({ body }) => outcomesOf(body)))).flat();
// One event for all of them: a hundred connections at once, each with a lookup.
await sandbox.set('f_1', { status: 'PAID' });
const isAsked = () => made.every((_, i) => resolver.asked.includes(`h${i}.dead.example`));
while (!isAsked()) await sleep(5);
const polledBefore = await lastPoll();
const neighbour: string[] = [];
for (let i = 0; i < 10; i += 1) {
  const { outcome } = await good.api.ok<{ outcome: string }>('POST', `${good.base}/subscriptions/${id}/test`);
  neighbour.push(outcome);
}
const deadEndedBefore = (await anyOutcomes()).length > 0;
let polledAfter = polledBefore;
for (const until = performance.now() + 5_000; polledAfter === polledBefore && performance.now() < until;)
  polledAfter = await lastPoll();

let dead: string[] = [];
for (; dead.length === 0; await sleep(50)) dead = await anyOutcomes();
const report: DeadNamesReport = {
  refused: { asked: askedFor, statuses: [...new Set(bad.map(({ status }) => status))] },
  registered: [...new Set(made.map(({ status }) => status))],
  neighbour: [...new Set(neighbour)],
  deadEndedBefore,
  polled: polledAfter !== null && polledAfter !== polledBefore,
  dead: [...new Set(dead)],
};
process.stdout.write(JSON.stringify(report));
resolver[Symbol.dispose]();
server.closeAllConnections();
server.close();
