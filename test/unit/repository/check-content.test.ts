import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import lock from '../../../package-lock.json' with { type: 'json' };
import { filesBelow } from '../docs/documents.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'filing-webhooks-content-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

const line = (path: string, mode = '-rw-r--r--', owner = '0/0') =>
  `${mode} ${owner}          1234 2026-11-21 10:00 ${path}`;

interface Locked {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

const packages = Object.entries(lock.packages as Record<string, Locked>);
const isDelivered = (entry: Locked) => ![entry.dev, entry.optional, entry.devOptional].includes(true);

/** The listing of an image with all that belongs to it. */
const good = [
  line('app/', 'drwxr-xr-x'),
  line('app/package.json'),
  ...filesBelow('src').map((path) => line(`app/${path}`)),
  ...packages.flatMap(([path, entry]) =>
    path !== '' && isDelivered(entry) ? [line(`app/${path}/package.json`), line(`app/${path}/index.js`)] : [],
  ),
  line('app/node_modules/.bin/x -> ../x/bin', 'lrwxrwxrwx'),
  line('usr/local/bin/node', '-rwxr-xr-x'),
];

/** What `.ci/check-content.mjs` finds, and its exit code. */
function check(content: readonly string[], history = 'COPY src ./src'): string[] {
  const [contentFile, historyFile] = [join(folder, 'content'), join(folder, 'history')];
  writeFileSync(contentFile, content.join('\n'));
  writeFileSync(historyFile, history);
  const command = ['.ci/check-content.mjs', contentFile, historyFile];
  const { stderr, status } = spawnSync('node', command, { encoding: 'utf8' });
  return [...stderr.trim().split('\n'), String(status)];
}

describe('.ci/check-content.mjs', () => {
  test('is content with what is delivered', () => {
    expect(check(good)).toEqual(['', '0']);
  });

  test.each([
    ['a test', line('app/src/api/api.test.ts'), 'a test'],
    ['a folder of the repository', line('app/test/x.ts'), 'not in /app of the image'],
    ['a repository', line('app/src/.git/', 'drwxr-xr-x'), 'a secret, a cache or a repository'],
    ['a file of secrets', line('home/node/.env'), 'a secret, a cache or a repository'],
    ['a package for development', line('app/node_modules/vitest/package.json'), 'is not delivered'],
    ['a package of a scope', line('app/node_modules/@x/y/package.json'), 'is not in the lock'],
    ['a file of the user node', line('app/src/main.js', '-rw-r--r--', '1000/1000'), 'others than root'],
    ['a file that all may write', line('app/src/main.js', '-rw-rw-rw-'), 'others than root'],
  ])('finds %s', (_what, added, why) => {
    expect(check([...good, added])).toContainEqual(expect.stringContaining(why));
    expect(check([...good, added]).at(-1)).toBe('1');
  });

  test('misses a package', () => {
    const [found] = check(good.filter((each) => !each.includes('app/node_modules/fastify/')));
    expect(found).toBe('image: node_modules/fastify: is missing');
  });

  test('finds a secret in the history', () => {
    expect(check(good, 'ENV API_TOKEN=abc')[0]).toMatch(/API_TOKEN=: a secret/);
  });
});
