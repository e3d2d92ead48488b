import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { expectNone } from '../../support/expect-none.ts';
import { readText } from '../docs/documents.ts';
import { exampleSecrets, problemsOf, rolesOf } from './daemon-environment.ts';

interface Service {
  readonly profiles?: readonly string[];
  readonly command?: readonly string[];
  readonly entrypoint?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly networks?: readonly string[] | Readonly<Record<string, unknown>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly stop_grace_period?: string;
  readonly [key: string]: unknown;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

const { services, networks, volumes } = parse(readText('docker-compose.yml'), { merge: true }) as Compose;
const named = Object.entries(services);
const networksOf = ({ networks: of = ['default'] }: Service) => (Array.isArray(of) ? of : Object.keys(of));
const membersOf = (network: string) =>
  named.filter(([, service]) => networksOf(service).includes(network)).map(([name]) => name);
const nodes = named.filter(([name]) => /^redis-\d$/.test(name));
const processes = named.filter(([, { environment }]) => environment?.['ENCRYPTION_KEY'] !== undefined);

/** The environment of a service with the variables that have defaults, and secrets. */
function environmentOf({ environment = {} }: Service): Record<string, string> {
  const given: Readonly<Record<string, string | undefined>> = exampleSecrets;
  const filled = (text: string) =>
    text.replaceAll(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g, (_, name: string, otherwise = '') =>
      String(given[name] ?? otherwise),
    );
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, filled(value)]));
}

describe('docker-compose.yml', () => {
  test.each(named)('limits memory, processes and logs of %s', (_, service) => {
    expect(service['mem_limit']).toMatch(/^(\d+m|\$\{REDIS_MEMORY_LIMIT:-2g\})$/);
    expect(service['pids_limit']).toBeTypeOf('number');
    expect(service['logging']).toEqual({
      driver: 'json-file',
      options: { 'max-size': '20m', 'max-file': '5' },
    });
  });

  test.each(named)(
    'gives %s a read-only root, no capabilities beyond those of Redis and no way to new privileges',
    (name, service) => {
      expect(service).toMatchObject({
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
      });
      const isRedis = /^redis(-\d)?$/.test(name);
      expect(service['cap_add'] ?? []).toEqual(isRedis ? ['CHOWN', 'DAC_OVERRIDE', 'SETGID', 'SETUID'] : []);
    },
  );

  test('has Redis ask for a password, in networks that the daemon alone is in too and that lead nowhere', () => {
    expect(membersOf('store')).toEqual(['redis', 'daemon']);
    expect(membersOf('cluster')).toEqual([
      ...nodes.map(([name]) => name),
      'cluster',
      'api',
      'poll',
      'deliver',
    ]);
    expect([networks['store']?.internal, networks['cluster']?.internal]).toEqual([true, true]);
    const servers = named.filter(([, { command }]) => command?.[0] === 'valkey-server');
    expect(servers.length).toBe(7);
    expectNone(
      servers,
      ([, { command = [] }]) => {
        const asked = command[command.indexOf('--requirepass') + 1];
        return !asked?.startsWith('${REDIS_PASSWORD:?is required; make one');
      },
      'servers',
    );
  });

  test('has Redis keep what it is given', () => {
    for (const [, { command = [] }] of [...nodes, ['redis', services['redis'] as Service] as const]) {
      const text = command.join(' ');
      expect(text).toContain('--appendonly yes --appendfsync always --maxmemory-policy noeviction');
    }
    expect(Object.keys(volumes)).toEqual(['redis-data', ...nodes.map(([name]) => `${name}-data`)]);
  });

  test('starts no process of the profiles beside the daemon and its Redis, nor the other way round', () => {
    const always = named.filter(([, { profiles }]) => profiles === undefined).map(([name]) => name);
    expect(always).toEqual(['redis', 'daemon']);
    const needed = ['api', 'poll', 'deliver', 'cluster'].flatMap((name) =>
      Object.keys(services[name]?.depends_on ?? {}),
    );
    expect(needed.filter((name) => always.includes(name))).toEqual([]);
  });

  test.each(processes.map(([name, service]) => [name, environmentOf(service)] as const))(
    'sets only what the daemon reads, and as it reads it, for %s',
    (_, environment) => {
      expect(problemsOf(environment)).toEqual([]);
    },
  );

  test('has every role in the cluster once, on its nodes', () => {
    const ofCluster = processes.filter(([, { profiles }]) => profiles?.includes('cluster'));
    expect(ofCluster.flatMap(([, service]) => rolesOf(environmentOf(service)))).toEqual([
      'api',
      'poll',
      'deliver',
    ]);
    const addresses = nodes.map(([, service]) => JSON.stringify(service.networks).match(/\}\.\d+/)?.[0]);
    expect(addresses).toEqual([11, 12, 13, 14, 15, 16].map((last) => `}.${last}`));
    const created = services['cluster']?.command?.join(' ') ?? '';
    expect(created.match(/network\.1\d:6379/g)?.length).toBe(nodes.length);
    for (const [, service] of ofCluster)
      expect(environmentOf(service)['REDIS_URL']).toMatch(/@10\.89\.73\.11:6379,10\.89\.73\.12:6379,/);
  });

  test('allows a process the time that its end takes', () => {
    expectNone(
      processes.filter(([, { command }]) => command === undefined),
      ([, service]) => service.stop_grace_period !== '40s',
      'processes',
    );
  });

  test('has one image of Redis, also in the demo', () => {
    const images = new Set(nodes.map(([, service]) => service['image']));
    expect(images).toEqual(new Set([services['redis']?.['image']]));
    const image = /\$\{REDIS_IMAGE:-(\S+)\}/.exec(String(services['redis']?.['image']))?.[1];
    expect(readText('src/demo/provide-redis.ts')).toContain(`const containerImage = '${image}';`);
  });

  test('builds what has no published image, under a name that a variable replaces', () => {
    const built = named.filter(([, { build }]) => build !== undefined);
    expect(built.map(([name]) => name)).toEqual(['daemon', 'sandbox', 'receiver', 'api', 'poll', 'deliver']);
    const images = new Set(built.map(([, { image }]) => image));
    expect(images).toEqual(new Set(['${FILING_WEBHOOKS_IMAGE:-filing-webhooks}']));
  });

  test('has a port for probes that is not the port of the API, as the image declares', () => {
    const dockerfile = readText('Dockerfile');
    const [, port, probes] = /PORT=(\d+) METRICS_PORT=(\d+)$/m.exec(dockerfile) ?? [];
    expect(probes).not.toBe(port);
    expect(dockerfile).toContain(`\nEXPOSE ${port} ${probes}\n`);
    for (const [, { environment }] of processes)
      expect(environment).toMatchObject({ PORT: port, METRICS_PORT: probes });
  });

  test('is reached from this machine only, and Redis not at all', () => {
    expect(named.flatMap(([name, { ports = [] }]) => ports.map((port) => `${name} ${port}`))).toEqual([
      'daemon 127.0.0.1:3000:3000',
      'api 127.0.0.1:3000:3000',
    ]);
  });
});
