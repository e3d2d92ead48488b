import { deepEqual, equal, ok } from 'node:assert/strict';
import { parseEnvFile } from '../../../src/config/environment.ts';
import { variables } from '../../../src/config/variables.ts';
import { loadConfig, type Config } from '../../../src/config/config.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { describeRedis, parseRedisUrl } from '../../../src/redis/connection/redis-url.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import { privateSettingsPlace } from '../../../src/secrets/seal-place.ts';
import type { FuzzTarget } from './fuzz.ts';

const names = Object.keys(variables);
const encryptionKey = Buffer.alloc(32, 1).toString('base64');
const secret = 'nobody-repeats-this';
const whole = Object.entries(variables).map(([name, { example }]) => `${name}=${example}`);

/** What operators write. */
export const configTargets: readonly FuzzTarget[] = [
  {
    name: 'configuration',
    seeds: () => [
      `API_TOKEN=${'t'.repeat(24)}\nENCRYPTION_KEY=new:${encryptionKey}`,
      [...whole, `API_TOKEN=${'t'.repeat(24)}`, `ENCRYPTION_KEY=${encryptionKey}`].join('\n'),
      `REDIS_URL=redis://:${secret}@h:0/x\nENCRYPTION_KEY=a:${secret},b:c\nAPI_TOKEN=${secret}`,
      `DELIVERY_ALLOW_CIDRS=fe80::1%eth0/64,010.0.0.0/8,127.0.0.1/${secret}\nHOST=[::1]\nPORT=${secret}`,
      `PARTNER_BASE_URL=https://u:${secret}@h/\nPARTNER_KEY=${secret}\nDELIVERY_RETRY_MS=1,,2`,
    ],
    run(input) {
      const loaded = loadConfig(parseEnvFile(input.toString()).values);
      if (loaded.ok) return checkConfig(loaded.config);
      ok(loaded.problems.length > 0);
      for (const problem of loaded.problems) {
        ok(names.some((name) => problem.startsWith(name)));
        ok(!problem.includes(secret), 'no value is repeated');
        ok(problem.length < 400 && !/[\p{Cc}]/u.test(problem));
      }
    },
  },
  {
    name: 'Redis address',
    seeds: () => [
      'redis://127.0.0.1:6379',
      'rediss://user:p%40ss@redis.example.com:1/2',
      'redis+cluster://:pw@a:1,[::1]:2,c',
      'rediss+sentinel://u:pw@a,b:26380/my%2Fmaster',
    ],
    run(input) {
      const parsed = parseRedisUrl(input.toString());
      if (!parsed.ok) return ok(parsed.problem.length < 200);
      const { address } = parsed;
      for (const { host, port } of address.nodes) ok(host !== '' && port >= 1 && port <= 65_535);
      equal(address.kind === 'sentinel', address.masterName !== '');
      ok(address.db >= 0 && (address.kind === 'single' || address.db === 0));
      const described = describeRedis(address);
      const open = { ...address, username: null, password: null };
      equal(described, describeRedis(open));
      if (/^[\w.-]*$/.test(address.masterName) && address.db === 0)
        deepEqual(parseRedisUrl(described), { ok: true, address: open });
    },
  },
];

/** What takes the configuration takes all of it: a bad value ends the start with its name, never later. */
function checkConfig(config: Config): void {
  createEgressPolicy({ allowCidrs: config.delivery.allowCidrs });
  ok(parseRedisUrl(config.redis.url).ok);
  const sealer = createSealer(config.encryptionKeys);
  const place = privateSettingsPlace('a', 'sub_1', 'https://a.example');
  equal(sealer.open(sealer.seal('a', place), place), 'a');
  createKeys(config.redis.prefix);
  ok(config.roles.size > 0 && config.delivery.retryMs.length > 0);
  const { port } = config.http;
  ok(Number.isInteger(port) && port >= 0 && port <= 65_535);
  const polling = Object.values(config.polling).filter((value) => value !== null);
  for (const number of [...polling, ...config.delivery.retryMs])
    ok(Number.isSafeInteger(number) && number >= 1 && number <= 30 * 86_400_000);
  const base = config.defaultAccount?.baseUrl;
  if (base !== undefined) {
    const url = new URL(`${base}/partner/me`);
    ok(
      url.pathname.endsWith('/partner/me') && `${url.username}${url.password}${url.search}${url.hash}` === '',
    );
  }
}
