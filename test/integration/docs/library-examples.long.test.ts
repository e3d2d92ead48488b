import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRawReceiver } from '../../support/receivers/raw-receiver.ts';
import { skipIfFails } from '../../support/skip-without.ts';

const examples = join(import.meta.dirname, '../../../docs/verification');
const key = randomBytes(32);
const secret = `whsec_${key.toString('base64')}`;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-examples-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program in `folder` with `WEBHOOK_SECRET`; null leaves it unset. */
function run(command: readonly string[], webhookSecret: string | null, more: object = {}): Promise<Ended> {
  const { WEBHOOK_SECRET: _, ...rest } = process.env;
  const env = { ...rest, ...(webhookSecret === null ? {} : { WEBHOOK_SECRET: webhookSecret }), ...more };
  const [file = '', ...args] = command;
  return new Promise((resolve) => {
    const child = execFile(file, args, { env, cwd: folder, timeout: 400_000 }, (_error, stdout, stderr) =>
      resolve({ exitCode: child.exitCode, stdout: stdout.trim(), stderr: stderr.trim() }),
    );
  });
}

const noSecrets = [null, '', 'whsec_', 'not a secret', 'whsec_c2hvcnQ='] as const;

describe.skipIf(skipIfFails('openssl', 'version'))('send-test.sh (skipped without openssl)', () => {
  test.each(noSecrets)('sends nothing with the secret %j', async (given) => {
    await using receiver = await startRawReceiver((socket) => socket.end());
    await writeFile(join(folder, 'body.json'), '{}');
    const ended = await run(['sh', join(examples, 'send-test.sh'), receiver.url, 'body.json'], given);
    expect(ended.exitCode).not.toBe(0);
    expect(ended.stderr).toContain('WEBHOOK_SECRET');
    expect(receiver.requests).toHaveLength(0);
  });

  test('sends what the secret signs', async () => {
    const ok = 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n';
    await using receiver = await startRawReceiver((socket) => socket.end(ok));
    await writeFile(join(folder, 'body.json'), '{"type":"ping"}');
    const ended = await run(['sh', join(examples, 'send-test.sh'), receiver.url, 'body.json'], secret);
    expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('204') as string });
    expect(receiver.requests).toHaveLength(1);
  });
});

describe.skipIf(skipIfFails('php', '--version'))('php-library/receive.php (skipped without PHP)', () => {
  const php = (code: string, given: string | null) =>
    run(
      ['php', '-r', `require ${JSON.stringify(join(examples, 'php-library/receive.php'))}; ${code}`],
      given,
    );

  test.each(noSecrets)('takes no callback with the secret %j', async (given) => {
    const { stdout } = await php(
      "try { receive([], '{}'); } catch (RuntimeException $e) { echo $e->getMessage(); }",
      given,
    );
    expect(stdout).toBe('WEBHOOK_SECRET is not set to a secret');
  });

  test.each([
    [String.raw`{"a":"\ud83d"}`, '\uFFFD'],
    [String.raw`{"a":"x\uDE00y"}`, 'x\uFFFDy'],
    [String.raw`{"a":"\ud83d\ude00\ud83d"}`, '😀\uFFFD'],
    [String.raw`{"a":"\\ud83d"}`, String.raw`\ud83d`],
    [String.raw`{"a":"\\\ud83d"}`, '\\\uFFFD'],
  ])('reads %s, whose halves of pairs PHP refuses', async (body, text) => {
    const encoded = Buffer.from(body).toString('base64');
    const { stdout } = await php(
      `echo json_decode(withoutHalfPairs(base64_decode('${encoded}')), true)['a'];`,
      secret,
    );
    expect(stdout).toBe(text);
  });
});
