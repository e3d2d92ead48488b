import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { runCommand } from '../../../src/cli/run-command.ts';
import { createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';
import { startSandbox } from '../../support/partner/sandbox.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;
let daemonUrl: string;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
  daemonUrl = await api.app.listen({ port: 0, host: '127.0.0.1' });
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** The exit code and the message of `trigger` with this address for the sandbox. */
async function triggerAt(url: string, words: string) {
  const notes: string[] = [];
  const exitCode = await runCommand(['trigger', ...words.split(' '), '--sandbox', url], commands, {
    env: {},
    signal: new AbortController().signal,
    out: (text) => void notes.push(text),
    note: (text) => void notes.push(text),
    progress: () => undefined,
    readInput: () => Promise.resolve(Buffer.alloc(0)),
    confirm: () => Promise.resolve(null),
  });
  return { exitCode, text: notes.join('\n') };
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const runs = ['filing.rejected', 'filing.rejected --filing f_1', 'filing.created', 'filing.removed'];

test.each(runs)('trigger %s says that an address is a daemon', async (words) => {
  expect(await triggerAt(daemonUrl, words)).toEqual({
    exitCode: 69,
    text: expect.stringMatching(
      /is a filing-webhooks daemon and no sandbox: .*--sandbox http:\/\/127\.0\.0\.1:4010/,
    ),
  });
});

const json =
  (status: number, body: unknown): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

test.each([
  ['a page', (_request, response) => response.setHeader('content-type', 'text/html').end('<html></html>')],
  ['a page that is not there', (_request, response) => response.writeHead(404).end('<html></html>')],
  ['an empty answer', (_request, response) => response.end()],
  ['null', json(200, null)],
  ['a list', json(200, [])],
  ['another object', json(200, { items: 'none', status: 3 })],
  ['a list of other things', json(200, { items: [{ name: 'x' }] })],
  ['an error of its own', json(404, { error: 'not found' })],
  ['another error of its own', json(404, { code: 'NOT_FOUND', message: 'no' })],
  ['a failure', json(500, { message: 'x'.repeat(5_000) })],
  ['a redirect to itself', (request, response) => response.writeHead(302, { location: request.url }).end()],
] satisfies [string, RequestListener][])(
  'trigger names a server that answers with %s',
  async (_what, listener) => {
    const url = await serve(listener);
    for (const words of runs) {
      // oxlint-disable-next-line no-await-in-loop
      const { exitCode, text } = await triggerAt(url, words);
      expect([exitCode, text.length < 400]).toEqual([69, true]);
      expect(text).toContain(url);
      expect(text).toMatch(/sandbox/);
    }
  },
);

test('trigger names an address at which nothing answers, and one below the sandbox', async () => {
  expect(await triggerAt('http://127.0.0.1:1', 'filing.rejected')).toEqual({
    exitCode: 69,
    text: expect.stringContaining('No sandbox answers at http://127.0.0.1:1'),
  });
  await using sandbox = await startSandbox();
  for (const url of [sandbox.baseUrl, `${new URL(sandbox.baseUrl).origin}/_sandbox`])
    // oxlint-disable-next-line no-await-in-loop
    expect(await triggerAt(url, 'filing.rejected')).toEqual({
      exitCode: 69,
      text: expect.stringMatching(/without a path/),
    });
});
