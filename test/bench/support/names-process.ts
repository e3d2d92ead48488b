import { once } from 'node:events';
import { createServer } from 'node:http';
import { startStubResolver } from '../../support/connections/stub-resolver.ts';
import { openApi } from '../../support/api/api-caller.ts';
import { startDaemonProcess } from '../../support/daemon/daemon-process.ts';
import { startSandbox } from '../../support/partner/sandbox.ts';
import { startPrivateRedis } from './private-redis.ts';

/** Milliseconds of a neighbour's callbacks, each on a new connection. */
export interface NamesReport {
  readonly alone: readonly number[];
  readonly beside: readonly number[];
  /** Callbacks that were not delivered. */
  readonly failed: number;
  /** Names of a dead server that were registered meanwhile, and callbacks to them that were tried. */
  readonly registered: number;
  readonly tried: number;
}

const dead = 100;
const callbacks = 400;
const outside = '93.184.216.34';

const server = createServer((_, response) => response.setHeader('connection', 'close').end());
server.listen({ port: 80, host: '::' });
await once(server, 'listening');
const resolver = await startStubResolver((name) => (name.endsWith('.dead.example') ? 'silence' : [outside]));
await using sandbox = await startSandbox();
await using redis = await startPrivateRedis('everysec');
await using daemon = await startDaemonProcess({
  REDIS_URL: redis.url,
  DELIVERY_ALLOW_CIDRS: '',
  DELIVERY_RETRY_MS: '5000,300000',
  POLL_INTERVAL_MS: '1000',
});

async function account(name: string) {
  const base = `/v1/accounts/${name}`;
  await daemon.api.ok('PUT', base, { baseUrl: sandbox.baseUrl, partnerKey: 'sandbox-key' });
  const { token } = await daemon.api.ok<{ token: string }>('POST', `${base}/tokens`);
  const api = openApi(daemon.url, token);
  const register = (url: string) => api.call<{ id: string }>('POST', `${base}/subscriptions`, { url });
  return { api, base, register };
}

const evil = await account('evil');
const good = await account('good');
const { body } = await good.register('http://hooks.example/');
let failed = 0;

async function measure(): Promise<number[]> {
  const durations: number[] = [];
  for (let i = 0; i < callbacks; i += 1) {
    const startedAt = performance.now();
    const path = `${good.base}/subscriptions/${body.id}/test`;
    const { outcome } = await good.api.ok<{ outcome: string }>('POST', path);
    durations.push(performance.now() - startedAt);
    if (outcome !== 'delivered') failed += 1;
  }
  return durations;
}

await measure();
const alone = await measure();
const all = Array.from({ length: dead }, (_, i) => evil.register(`http://h${i}.dead.example/`));
// A change, so that the registered names are called too.
const changed = Promise.all(all).then(() => sandbox.set('f_1', { status: 'PAID' }));
const beside = await measure();
await changed;
const registered = (await Promise.all(all)).filter(({ status }) => status === 201).length;
const tried = new Set(resolver.asked.filter((name) => name.endsWith('.dead.example'))).size;
const report: NamesReport = { alone, beside, failed, registered, tried };
process.stdout.write(JSON.stringify(report));
resolver[Symbol.dispose]();
server.closeAllConnections();
server.close();
