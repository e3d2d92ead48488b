import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyCallback } from '../../../src/cli/events/verify-callback.ts';
import { parseSecret } from '../../../src/subscriptions/signing-secret.ts';
import type { Captured } from './captured-callback.ts';
import { cases } from './cases.ts';
import { runtimes, unusable, type Runtime } from './runtimes.ts';

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

describe('docs/verification/node-library.mjs', () => {
  it.each(cases)('$title', async ({ callback, holds, accepted }) => {
    const file = new URL('../../../docs/verification/node-library.mjs', import.meta.url);
    const { receive } = (await import(file.href)) as { receive: (headers: object, body: Buffer) => unknown };
    const { headers, body } = await callback();
    process.env['WEBHOOK_SECRET'] = holds;
    expect(succeeds(() => receive(headers, body))).toBe(accepted);
  });
});

const known = runtimes.map((runtime) => ({ runtime, file: runtime.file, reason: unusable(runtime) }));

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

  it.each(cases)('$title', async ({ callback, holds, accepted }) => {
    const files = await store(directory, await callback());
    const { exitCode, stdout, stderr } = await run([...command, ...files], holds);
    expect({ exitCode, stdout, refused: stderr.startsWith('refused: ') }).toEqual({
      exitCode: accepted ? 0 : 1,
      stdout: accepted ? 'ok' : '',
      refused: !accepted,
    });
  });
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
    const env = { ...process.env, WEBHOOK_SECRET: secret };
    const child = execFile(file, args, { env }, (_, stdout, stderr) =>
      resolve({ exitCode: child.exitCode, stdout: stdout.trim(), stderr: stderr.trim() }),
    );
  });
}
