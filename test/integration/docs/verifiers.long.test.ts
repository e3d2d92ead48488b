import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyCallback } from '../../../src/cli/events/verify-callback.ts';
import { parsePublicKey, parseSecret } from '../../../src/subscriptions/signing-secret.ts';
import type { Captured } from './captured-callback.ts';
import { cases, publicKeyCases } from './cases.ts';
import { publicKeyRuntimes, unusable, type Runtime } from './runtimes.ts';
import { skipIfFails } from '../../support/skip-without.ts';

describe('standardwebhooks, the reference,', () => {
  it.each(cases)('$title', async ({ callback, holds, accepted }) => {
    const { headers, body } = await callback();
    expect(succeeds(() => new Webhook(holds).verify(body, headers))).toBe(accepted);
  });
});

describe('filing-webhooks verify', () => {
  it.each(cases)('$title', async ({ callback, holds, accepted }) => {
    const { headers, body } = await callback();
    const captured = { headers: new Map(Object.entries(headers)), body };
    const verdict = () => assert(verifyCallback(captured, parseSecret(holds), Date.now()).ok);
    expect(succeeds(verdict)).toBe(accepted);
  });
});

describe('filing-webhooks verify with public keys', () => {
  it.each(publicKeyCases)('$title', async ({ callback, holds, accepted }) => {
    const { headers, body } = await callback();
    const captured = { headers: new Map(Object.entries(headers)), body };
    const keys = holds.split(' ').filter((text) => text !== '');
    const verdict = () => assert(verifyCallback(captured, keys.map(parsePublicKey), Date.now()).ok);
    expect(succeeds(verdict)).toBe(accepted);
  });
});

const isInstalled = !skipIfFails('openssl', 'version');

// Beside OpenSSL within Node: its command line, over the bytes that the specification names.
describe.skipIf(!isInstalled)('openssl pkeyutl', () => {
  it.each(publicKeyCases.filter(({ title }) => !title.includes('minutes')))('$title', async (one) => {
    await using folder = await temporaryFolder();
    const { headers, body } = await one.callback();
    const signed = [headers['webhook-id'], headers['webhook-timestamp'], ''].join('.');
    const content = join(folder.path, 'content');
    await writeFile(content, Buffer.concat([Buffer.from(signed), body]));
    const verdicts: boolean[] = [];
    for (const key of one.holds.split(' ').filter((text) => text !== ''))
      for (const [, text = ''] of (headers['webhook-signature'] ?? '').matchAll(/(?:^| )v1a,(\S+)/g)) {
        const [keyFile, signatureFile] = [join(folder.path, 'key'), join(folder.path, 'signature')];
        await writeFile(keyFile, parsePublicKey(key).export({ type: 'spki', format: 'pem' }));
        await writeFile(signatureFile, Buffer.from(text, 'base64'));
        const args = ['-verify', '-pubin', '-rawin', '-inkey', keyFile, '-in', content];
        const { exitCode } = await run(['openssl', 'pkeyutl', ...args, '-sigfile', signatureFile], '');
        verdicts.push(exitCode === 0);
      }
    expect(verdicts.includes(true)).toBe(one.accepted);
  });
});

const known = publicKeyRuntimes.map((runtime) => ({
  runtime,
  file: runtime.file,
  reason: unusable(runtime),
}));

describe.each(known.filter(({ reason }) => reason === null))('docs/verification/$file', ({ runtime }) => {
  describeVerifier(runtime);
});

// One skipped test stands for all of a language that is missing here.
it.skipIf(true).each(known.filter(({ reason }) => reason !== null))(
  'docs/verification/$file is skipped: $reason',
  ({ reason }) => {
    expect(reason).toBeNull();
  },
);

function describeVerifier(runtime: Runtime): void {
  let directory = '';
  let command: readonly string[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'filing-webhooks-verifier-'));
    command = await runtime.prepare(directory);
  }, 120_000);
  afterAll(() => rm(directory, { recursive: true, force: true }));

  it.each(publicKeyCases)('$title', async ({ callback, holds, accepted }) => {
    const files = await store(directory, await callback());
    const { exitCode, stdout, stderr } = await run([...command, ...files], holds);
    expect({ exitCode, stdout, refused: stderr.startsWith('refused: ') }).toEqual({
      exitCode: accepted ? 0 : 1,
      stdout: accepted ? 'ok' : '',
      refused: !accepted,
    });
  });
}

async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'filing-webhooks-verifier-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function succeeds(verify: () => unknown): boolean {
  try {
    verify();
    return true;
  } catch {
    return false;
  }
}

async function store(directory: string, { headers, body }: Captured): Promise<[string, string]> {
  const [headersFile, bodyFile] = [join(directory, 'headers.txt'), join(directory, 'body.json')];
  const lines = Object.entries(headers).map((pair) => pair.join(': '));
  await writeFile(headersFile, lines.join('\r\n'));
  await writeFile(bodyFile, body);
  return [headersFile, bodyFile];
}

function run([file = '', ...args]: readonly string[], secret: string) {
  return new Promise<{ exitCode: number | null; stdout: string; stderr: string }>((resolve) => {
    const env = { ...process.env, WEBHOOK_PUBLIC_KEYS: secret };
    const child = execFile(file, args, { env }, (_, stdout, stderr) =>
      resolve({ exitCode: child.exitCode, stdout: stdout.trim(), stderr: stderr.trim() }),
    );
  });
}
