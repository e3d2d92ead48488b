import * as fc from 'fast-check';
import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { parseEnvFile } from '../../src/config/environment.ts';

const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

function run(
  environment: Record<string, string>,
  cwd = fileURLToPath(new URL('.', import.meta.url)),
): Promise<{ code: unknown; out: string; errors: string }> {
  return new Promise((resolve) => {
    const options = { cwd, env: environment };
    execFile(process.execPath, [entry], options, (error, out, errors) =>
      resolve({ code: error?.code ?? 0, out, errors }),
    );
  });
}

test('a wrong configuration ends with 78, naming every problem at once and repeating no value', async () => {
  const { code, out, errors } = await run({
    REDIS_URL: 'http://user:hunter2@redis.example',
    API_TOKEN: 'too-short-secret',
    ENCRYPTION_KEY: 'bm90IGxvbmcgZW5vdWdo',
    PORT: 'ninety',
    PARTNER_KEY: 'key-without-address',
  });
  expect([code, out]).toEqual([78, '']);
  for (const name of ['REDIS_URL', 'API_TOKEN', 'ENCRYPTION_KEY', 'PORT', 'PARTNER_BASE_URL'])
    expect(errors).toContain(`  - ${name}`);
  expect(errors).not.toMatch(/hunter2|too-short-secret|bm90IGxvbmc|ninety|key-without-address/);
});

test('a .env that cannot be read ends with 78 and is named', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-env-'));
  // A container that mounts a file which is missing finds a directory there.
  await mkdir(join(folder, '.env'));
  const { code, out, errors } = await run({}, folder);
  await rm(folder, { recursive: true });
  expect([code, out]).toEqual([78, '']);
  expect(errors.split('\n').slice(1, 2)).toEqual([
    '  - .env cannot be read (EISDIR): remove it, or make it a file that the user of this process may read',
  ]);
});

test('values of .env that programs read differently end with 78, each with its line', async () => {
  const folder = await temporaryFolder();
  const file = [
    'PARTNER_BASE_URL=http://127.0.0.1',
    'PARTNER_KEY=key#1',
    'API_TOKEN="half"-secret-of-the-operator',
  ];
  await writeFile(join(folder, '.env'), file.join('\n'));
  const { code, out, errors } = await run({}, folder);
  expect([code, out]).toEqual([78, '']);
  expect(errors.split('\n').slice(1, 3)).toEqual([
    expect.stringMatching(/^ {2}- \.env, line 2: PARTNER_KEY has # .*PARTNER_KEY='…'/),
    expect.stringMatching(/^ {2}- \.env, line 3: API_TOKEN has " .*API_TOKEN='…'/),
  ]);
  expect(errors).not.toMatch(/key#1|secret/);
});

test('a .env that is no UTF-8 text ends with 78', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, '.env'), '\uFEFFPORT=1\n', 'utf16le');
  const { code, errors } = await run({}, folder);
  expect(code).toBe(78);
  expect(errors).toContain('.env cannot be read (no UTF-8 text)');
});

test('a value of .env is what a shell reads, or is refused', async () => {
  const folder = await temporaryFolder();
  const piece = fc.constantFrom(...Array.from('abn# "\'\\$`;&|~(>=\n\t'));
  const found = fc.check(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const text = `API_TOKEN=${pieces.join('')}\nB=1\n`;
      const { values, problems } = parseEnvFile(text);
      if (problems.length > 0) return true;
      const shell = spawnSync('sh', ['-c', `${text}printf %s "$API_TOKEN"`], {
        cwd: folder,
        env: {},
        encoding: 'utf8',
      });
      return shell.stderr !== '' || shell.stdout === values['API_TOKEN'];
    }),
    { numRuns: 300 },
  );
  expect(found.failed ? fc.defaultReportMessage(found) : null).toBeNull();
});

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-env-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('nothing else is loaded before the configuration is known to be right', () => {
  const imports = readFileSync(entry, 'utf8').matchAll(/^import .* from '(.*)';$/gm);
  expect([...imports].map(([, from]) => from)).toEqual([
    './config/config.ts',
    './config/environment.ts',
    './daemon/stop-on-signals.ts',
  ]);
});
