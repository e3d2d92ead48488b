import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const files = [
  'Dockerfile',
  'docker-compose.yml',
  'src/demo/provide-redis.ts',
  'deploy/helm/filing-webhooks/values.yaml',
];
const digest = (character: string) => `sha256:${character.repeat(64)}`;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'filing-webhooks-images-'));
  for (const name of [...files, '.ci/pin-images']) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    cpSync(join(root, name), join(folder, name));
  }
});

afterEach(() => rmSync(folder, { recursive: true }));

/** Runs `.ci/pin-images` with a docker that knows this digest of every image, or none. */
function pin(known: string | null, ...args: string[]) {
  const answer = known === null ? 'exit 1' : `echo "\${5%:*}@${known}"`;
  writeFileSync(join(folder, 'docker'), `#!/bin/sh\n[ "$1" = pull ] && exit 0\n${answer}\n`);
  chmodSync(join(folder, 'docker'), 0o755);
  const PATH = [folder, process.env['PATH']].join(delimiter);
  return spawnSync(join(folder, '.ci/pin-images'), args, { encoding: 'utf8', env: { PATH } });
}

const texts = () => files.map((name) => readFileSync(join(folder, name), 'utf8'));
const imagesOf = (text = '') =>
  [...text.matchAll(/(?:node|valkey\/valkey):\d[\w.-]*(?:@sha256:\w+)?/g)].map(([image]) => image);

describe('.ci/pin-images', () => {
  test('writes the digest of each image behind its tag, and a new one in its place', () => {
    expect(pin(digest('a')).status).toBe(0);
    expect(pin(digest('b')).status).toBe(0);
    const images = texts().flatMap(imagesOf);
    expect(images.length).toBeGreaterThan(2);
    expect(images.filter((image) => !/^[^@]+:[\d.]+-\w+@sha256:b{64}$/.test(image))).toEqual([]);
    expect(pin(null, '--check').stdout).not.toContain('warning');
  });

  test('writes nothing where docker names no digest', () => {
    const before = texts();
    expect(pin(null).status).toBe(1);
    expect(texts()).toEqual(before);
  });

  test('warns of an image that a tag alone pins', () => {
    const [dockerfile = ''] = texts();
    writeFileSync(join(folder, 'Dockerfile'), dockerfile.replace(/@sha256:\w+/, ''));
    const { stdout, status } = pin(null, '--check');
    expect(stdout).toMatch(/warning: node:\S+ may change under its tag/);
    expect(status).toBe(0);
  });
});
