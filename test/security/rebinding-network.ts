import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPrivateRedis } from '../bench/support/private-redis.ts';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { startStubResolver } from '../support/connections/stub-resolver.ts';

/**
 * What came of leading a whole daemon to inside addresses by names that move, in a network where everything
 * would answer.
 */
export interface RebindingReport {
  /** Status and errors of the attempts to register or to change to a name that leads inside. */
  readonly refused: readonly string[];
  /** Outcomes of the test calls and attempts while the name still led outside, and after it was moved. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly redirected: unknown;
  /** Addresses other than the public one to which something connected. */
  readonly canaries: readonly string[];
  /** The same after a connection that was made without the guard. */
  readonly unguarded: readonly string[];
}

const outside = '93.184.216.34';
const inside = '169.254.169.254';
const names: Record<string, readonly string[]> = {
  'hooks.example': [outside],
  'inside.example': [inside],
  'both.example': [outside, '10.0.0.1'],
  'moving.example': [outside],
  'kept.example': [outside],
};
const base = '/v1/accounts/default';
const canaries = new Set<string>();

const server = createServer(({ url = '', headers: { host } }, response) => {
  if (host !== 'kept.example') response.setHeader('connection', 'close');
  if (url === '/elsewhere') response.writeHead(307, { location: `http://${inside}/` });
  response.end();
});
server.on('connection', ({ localAddress = '' }) => canaries.add(localAddress.replace('::ffff:', '')));
server.listen({ port: 80, host: '::' });
await once(server, 'listening');
const resolver = await startStubResolver((name) => names[name] ?? []);

const hit = () => [...canaries].filter((address) => address !== outside);
const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'all_proxy'];
await using sandbox = await startSandbox();
await using redis = await startPrivateRedis('everysec');
await using daemon = await startDaemonProcess({
  REDIS_URL: redis.url,
  PARTNER_BASE_URL: sandbox.baseUrl,
  PARTNER_KEY: 'sandbox-key',
  DELIVERY_ALLOW_CIDRS: '',
  ...Object.fromEntries(proxies.map((name) => [name, 'http://10.9.9.9:80'])),
});
const { api } = daemon;

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(50);
}

async function register(url: string): Promise<string> {
  const { id } = await api.ok<{ id: string }>('POST', `${base}/subscriptions`, { url });
  return `${base}/subscriptions/${id}`;
}

async function testCall(path: string): Promise<string> {
  return (await api.ok<{ outcome: string }>('POST', `${path}/test`)).outcome;
}

// Test calls are judged by their answers.
async function outcomes(path: string): Promise<string[]> {
  const { items } = await api.ok<{ items: { outcome: string; eventType: string }[] }>(
    'GET',
    `${path}/attempts`,
  );
  return items.flatMap(({ outcome, eventType }) => (eventType === 'ping' ? [] : [outcome]));
}

const isBaselined = async () =>
  (await api.ok<{ health: { state: string } }>('GET', base)).health.state === 'ok';
await until(isBaselined);

const moving = await register('http://moving.example/');
const kept = await register('http://kept.example/');
const before = [await testCall(moving), await testCall(kept)];
names['moving.example'] = [inside];
names['kept.example'] = [inside];
await testCall(kept);

const after = [await testCall(moving)];
await sandbox.set('f_1', { status: 'PAID' });
await until(async () => (await outcomes(moving)).length > 2);
await api.ok('POST', `${moving}/replay`, { after: '2020-01-01T00:00:00Z' });
await api.ok('PATCH', moving, { enabled: false });
await api.ok('PATCH', moving, { enabled: true });
const sofar = (await outcomes(moving)).length;
await until(async () => (await outcomes(moving)).length > sofar);
after.push(...(await outcomes(moving)));

const urls = ['inside', 'both', 'moving'].map((name) => `http://${name}.example/`);
const answers = await Promise.all(
  urls.flatMap((url) => [
    api.call('POST', `${base}/subscriptions`, { url }),
    api.call('PATCH', moving, { url }),
  ]),
);
const redirecting = await register('http://hooks.example/elsewhere');
const redirected = await testCall(redirecting);
const guarded = hit();
await fetch('http://inside.example/');

const report: RebindingReport = {
  refused: [...new Set(answers.map(({ status, body }) => `${status} ${JSON.stringify(body['errors'])}`))],
  before,
  after: [...new Set(after)],
  redirected,
  canaries: guarded,
  unguarded: hit(),
};
process.stdout.write(JSON.stringify(report));
resolver[Symbol.dispose]();
server.closeAllConnections();
server.close();
