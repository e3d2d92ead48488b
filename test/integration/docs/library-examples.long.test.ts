import { execFile, spawnSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
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

/** The headers of a callback with this body, signed with `by`. */
function signed(body: string, by: Buffer = key) {
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', by).update(`evt_1.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
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

const noPython = skipIfFails('python3', '-c', 'import ensurepip');

describe.skipIf(noPython)('python_library.py (skipped without Python and venv)', () => {
  let python = '';

  beforeAll(async () => {
    await run(['python3', '-m', 'venv', 'venv'], null);
    python = join(folder, 'venv/bin/python');
    const installed = await run([python, '-m', 'pip', 'install', '--quiet', 'standardwebhooks==1.1.0'], null);
    if (isOffline(installed)) python = '';
  }, 420_000);

  const receive = async (body: Buffer, headers: object) => {
    await writeFile(join(folder, 'body.bin'), body);
    const code =
      'import json, sys; from python_library import receive, WebhookVerificationError as E\n' +
      `try: print(json.dumps(receive(json.loads(sys.argv[1]), open("body.bin", "rb").read())))\n` +
      'except E: print("refused")';
    const ended = await run([python, '-c', code, JSON.stringify(headers)], secret, {
      PYTHONPATH: examples,
      PYTHONDONTWRITEBYTECODE: '1',
    });
    return ended.stdout;
  };

  test('takes a callback and refuses malformed ones with the error that it documents', async () => {
    if (python === '') return;
    const body = '{"type": "ping"}';
    expect(await receive(Buffer.from(body), signed(body))).toBe(body);
    const noComma = { ...signed(body), 'webhook-signature': 'v1' };
    expect(await receive(Buffer.from(body), noComma)).toBe('refused');
    expect(await receive(Buffer.from([0xff, 0xfe]), signed(body))).toBe('refused');
  });
});

// The library's own minimum; Debian 12 has 1.19.
const goMinor = /go1\.(\d+)/.exec(outputOf('go', 'version'))?.[1];

describe.skipIf(Number(goMinor ?? 0) < 21)('go-library/receive.go (skipped without Go 1.21)', () => {
  test('refuses a callback signed with the empty key while no secret is set, and a body without end', async () => {
    await copyFile(join(examples, 'go-library/receive.go'), join(folder, 'receive.go'));
    await writeFile(join(folder, 'receive_test.go'), goTest);
    const library = 'github.com/standard-webhooks/standard-webhooks/libraries';
    await writeFile(join(folder, 'go.mod'), `module receiver\n\nrequire ${library} v0.0.1\n`);
    const fetched = await run(['go', 'mod', 'tidy'], null);
    expect(fetched.exitCode === 0 || isOffline(fetched)).toBe(true);
    if (isOffline(fetched)) return;
    const body = '{"type":"ping"}';
    const pairs = (by: Buffer) => JSON.stringify(signed(body, by));
    const ended = await run(['go', 'test', '-vet=off', './...'], null, {
      FORGED: pairs(Buffer.alloc(0)),
      GENUINE: pairs(key),
      GENUINE_SECRET: secret,
    });
    expect(ended).toMatchObject({ exitCode: 0 });
  }, 420_000);
});

const goTest = `package receiver

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

func callback(signed string, body io.Reader) *http.Request {
	request, _ := http.NewRequest("POST", "/", body)
	headers := map[string]string{}
	json.Unmarshal([]byte(os.Getenv(signed)), &headers)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	return request
}

func TestReceive(t *testing.T) {
	body := "{\\"type\\":\\"ping\\"}"
	for _, secret := range []string{"", "whsec_"} {
		os.Setenv("WEBHOOK_SECRET", secret)
		if _, err := Receive(callback("FORGED", strings.NewReader(body))); err == nil {
			t.Error("a forged callback was taken")
		}
	}
	os.Setenv("WEBHOOK_SECRET", os.Getenv("GENUINE_SECRET"))
	if _, err := Receive(callback("GENUINE", strings.NewReader(body))); err != nil {
		t.Error(err)
	}
	large := strings.NewReader(strings.Repeat("x", 2<<20))
	if _, err := Receive(callback("GENUINE", large)); err == nil || large.Len() == 0 {
		t.Error("a large body was read to its end")
	}
}
`;

function outputOf(command: string, ...args: string[]): string {
  return String(spawnSync(command, args).stdout ?? '');
}

// A machine without a way to the registries of packages cannot have the libraries.
function isOffline({ exitCode, stderr }: Ended): boolean {
  return exitCode !== 0 && /dial|lookup|proxy|timeout|No matching distribution|Connection/i.test(stderr);
}
