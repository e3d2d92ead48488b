import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'filing-webhooks-lock-'));
  mkdirSync(join(folder, '.ci'));
  for (const name of ['package-lock.json', 'package.json', '.npmrc', '.ci/without-hash.txt'])
    cpSync(join(root, name), join(folder, name));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Replaces text of a file of the folder; fails where the file does not have it. */
function edit(name: string, from: string | RegExp, to: string): void {
  const text = readFileSync(join(folder, name), 'utf8');
  const edited = text.replace(from, to);
  expect(edited).not.toBe(text);
  writeFileSync(join(folder, name), edited);
}

/** The lines of `.ci/check-lock.mjs` for the folder, and its exit code. */
function check(of = folder): string[] {
  const { stdout, status } = spawnSync('node', ['.ci/check-lock.mjs', of], {
    cwd: root,
    encoding: 'utf8',
  });
  return [...stdout.trim().split('\n'), String(status)];
}

const fastify = 'node_modules/fastify';

/** Sets fields of fastify's entry in the lock. */
function setEntry(fields: Record<string, unknown>, path = fastify): void {
  const file = join(folder, 'package-lock.json');
  const lock = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, object> };
  lock.packages[path] = { ...lock.packages[path], ...fields };
  writeFileSync(file, JSON.stringify(lock));
}

describe('.ci/check-lock.mjs', () => {
  test('is content with this repository', () => {
    expect(check()).toEqual([expect.stringMatching(/^lock: \d+ packages, \d+ by hash/), '0']);
  });

  test.each(
    readdirSync(join(root, 'integrations')).filter((name) =>
      existsSync(join(root, 'integrations', name, 'package-lock.json')),
    ),
  )('is content with integrations/%s', (name) => {
    expect(check(join('integrations', name))).toEqual([expect.stringMatching(/by hash, 0 for other/), '0']);
  });

  test('wants .npmrc where a package has an install script', () => {
    rmSync(join(folder, '.npmrc'));
    expect(check()).toEqual([
      expect.stringContaining('.npmrc lacks the line ignore-scripts=true'),
      expect.stringContaining('.npmrc lacks the line omit-lockfile-registry-resolved=true'),
      '1',
    ]);
  });

  test.each<[string, Record<string, unknown>, RegExp]>([
    ['without a hash', { integrity: undefined }, /fastify has no sha512 integrity.*complete-lock/],
    ['with a weak hash', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }, /no sha512 integrity/],
    ['from git', { resolved: 'git+ssh://git@example.com/a/b.git#0123' }, /names where it comes from/],
    ['from a host', { resolved: 'https://packages.example.com/fastify.tgz' }, /names no host/],
    ['from a folder', { link: true }, /names where it comes from/],
    ['that wants another from git', { dependencies: { a: 'github:a/b' } }, /wants a from github:a\/b/],
    ['that wants another by shorthand', { dependencies: { a: 'a/b#main' } }, /wants a from a\/b/],
    ['that wants another by address', { dependencies: { a: 'http://x.example/a.tgz' } }, /wants a from http/],
    ['with an unnamed install script', { hasInstallScript: true }, /fastify has an install script/],
  ])('refuses a package %s', (_what, fields, sentence) => {
    setEntry(fields);
    expect(check()).toEqual([expect.stringMatching(sentence), '1']);
  });

  test('excuses no package that Linux with glibc installs', () => {
    setEntry({ integrity: undefined });
    edit('.ci/without-hash.txt', /$/, '\nfastify\n');
    expect(check()).toEqual([expect.stringContaining('may not excuse it'), '1']);
    setEntry({ libc: undefined }, 'node_modules/@oxlint/binding-linux-x64-musl');
    expect(check()).toContainEqual(expect.stringMatching(/linux-x64-musl is installed on Linux with glibc/));
  });

  test('excuses no package that has its hash, or is gone', () => {
    edit('.ci/without-hash.txt', /$/, '\nfastify\nleft-pad\n');
    expect(check()).toEqual([
      expect.stringContaining('take fastify out'),
      expect.stringContaining('left-pad, which the lock does not have'),
      '1',
    ]);
  });

  test('refuses ranges, allowed scripts and settings that are gone', () => {
    edit('package.json', '"msgpackr-extract": false', '"msgpackr-extract": true');
    edit('.npmrc', 'ignore-scripts=true', 'ignore-scripts=false');
    edit('package-lock.json', /"fastify": "\d+\./, '"fastify": "^5.');
    expect(check()).toEqual([
      expect.stringContaining('write out one version'),
      expect.stringContaining('allows the install script of msgpackr-extract'),
      'lock: .npmrc lacks the line ignore-scripts=true',
      '1',
    ]);
  });
});
