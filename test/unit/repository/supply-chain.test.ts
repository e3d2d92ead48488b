import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import lock from '../../../package-lock.json' with { type: 'json' };
import packageJson from '../../../package.json' with { type: 'json' };
import { readText } from '../docs/documents.ts';
import { expectNone } from '../../support/expect-none.ts';

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

const locked = Object.entries(lock.packages as Record<string, LockedPackage>).filter(([path]) => path !== '');
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** What is in the image, which leaves out what is for development or optional. */
const delivered = locked.filter(
  ([, { dev, optional, devOptional }]) => ![dev, optional, devOptional].includes(true),
);

/** Licences that ask for no more than to be named. */
const permissive = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'ISC',
  'MIT',
  'Unlicense',
  '(MIT OR CC0-1.0)',
]);

describe('dependencies', () => {
  test('that are delivered have permissive licences', () => {
    const others = delivered
      .filter(([, { license = 'none' }]) => !permissive.has(license))
      .map(([path, { license }]) => `${nameOf(path)}: ${license}`);
    expect(delivered.length).toBeGreaterThan(80);
    expect(others).toEqual([]);
  });

  test('that are delivered are all in the list of parts that CI makes, each with its licence', () => {
    const { stdout } = spawnSync('node', ['.ci/list-parts.mjs'], { encoding: 'utf8' });
    const { components } = JSON.parse(stdout) as {
      components: Record<'name' | 'version' | 'licenses', unknown>[];
    };
    const nameAndVersion = (name: unknown, version: unknown) => `${String(name)} ${String(version)}`;
    expect(new Set(components.map(({ name, version }) => nameAndVersion(name, version)))).toEqual(
      new Set(delivered.map(([path, { version }]) => nameAndVersion(nameOf(path), version))),
    );
    expectNone(components, ({ licenses }) => licenses === undefined, 'components');
  });
});

describe('containers', () => {
  const compose = readText('docker-compose.yml');
  const services = (compose.split(/^services:\n/m)[1] ?? '').split(/^(?:networks|volumes):/m)[0] ?? '';
  const shared = compose.split(/^services:/m)[0] ?? '';
  const guards = ['read_only: true', "cap_drop: ['ALL']", "security_opt: ['no-new-privileges:true']"];

  const named = services
    .split(/^ {2}(?=\w+:\n)/m)
    .filter((text) => text.trim() !== '')
    .map((text): [string, string] => [text.split(':', 1)[0] ?? '', text]);

  test.each(named)('of %s have limits of memory, processes and logs', (_name, service) => {
    const limits = service.includes('<<: *node') ? shared + service : service;
    expect(limits).toMatch(/^ +mem_limit: \S+$/m);
    expect(limits).toMatch(/^ +pids_limit: \d+$/m);
    expect(limits).toMatch(/^ +logging: [&*]logging$/m);
  });

  test('of Redis ask for a password, in a network that the daemon alone is in too', () => {
    const members = named.filter(([, service]) => /networks: \[.*\bstore\b/.test(service));
    expect(members.map(([name]) => name)).toEqual(['redis', 'daemon']);
    expect(compose).toMatch(/^networks:\n(?: +#.*\n)? +store:\n +internal: true$/m);
    expect(named.find(([name]) => name === 'redis')?.[1]).toMatch(
      /'--requirepass',\n +'\$\{REDIS_PASSWORD:\?/,
    );
    expect(services).toContain('REDIS_URL: redis://:${REDIS_PASSWORD}@redis:6379');
  });

  test('of Redis are of one image, also in the demo', () => {
    const image = /image: \$\{REDIS_IMAGE:-(\S+)\}/.exec(services)?.[1];
    expect(readText('src/demo/provide-redis.ts')).toContain(`const containerImage = '${image}';`);
  });

  test('of the image have the Node that the project pins', () => {
    const pinned = readText('.node-version').trim();
    const tag = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(readText('Dockerfile'))?.[1];
    expect(new Set(Object.values(packageJson.optionalDependencies))).toEqual(new Set([pinned]));
    expect(`${pinned}.`).toContain(`${tag}.`);
  });

  test.each(named)(
    'of %s have a read-only root, no capabilities beyond those named and no way to new privileges',
    (_name, service) => {
      const said = service.includes('<<: *node') ? shared + service : service;
      expectNone(guards, (guard) => !said.includes(guard), 'guards');
    },
  );

  test('of the image run as an ordinary user, who owns nothing of it', () => {
    const dockerfile = readText('Dockerfile');
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).not.toMatch(/--chown|chown|ADD /);
    expect(dockerfile).toMatch(/npm ci --omit=dev .*--ignore-scripts/);
  });

  test('of the image start the daemon as `npm start` does', () => {
    const command = /^CMD (.*)$/m.exec(readText('Dockerfile'))?.[1] ?? '';
    expect((JSON.parse(command) as string[]).join(' ')).toBe(packageJson.scripts.start);
  });

  test('of the daemon have a port for probes that is not the port of the API, as the image declares', () => {
    const dockerfile = readText('Dockerfile');
    const [, port, probes] = /PORT=(\d+) METRICS_PORT=(\d+)$/m.exec(dockerfile) ?? [];
    expect(probes).not.toBe(port);
    expect(dockerfile).toContain(`\nEXPOSE ${port} ${probes}\n`);
    expect(services).toContain(`PORT: '${port}'\n      METRICS_PORT: '${probes}'\n`);
  });

  test('are reached from this machine only, and Redis not at all', () => {
    expect([...services.matchAll(/- '([\d.:]+)'/g)].map(([, port]) => port)).toEqual(['127.0.0.1:3000:3000']);
  });
});
