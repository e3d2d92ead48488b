import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startStage, until } from '../../testing/stage.ts';
import { knownEventTypes } from '../src/events/events.ts';
import { postgresTable } from '../src/index.ts';
import { filingEvent, secret, signed } from './support/sign.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
const compilerOf = (folder: string) =>
  join(dirname(createRequire(folder).resolve('typescript/package.json')), 'bin/tsc');
// The one that builds the package, and the one of the repository, which is newer.
const [ownCompiler, tsc] = [compilerOf(root), compilerOf(join(root, '../../package.json'))];

let project: string;
let packed: { files: { path: string }[]; filename: string };
before(async () => {
  project = mkdtempSync(join(tmpdir(), 'receiver-package-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: root });
  [packed] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [typeof packed];
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const install = ['install', '--offline', '--no-audit', '--no-fund', join(project, packed.filename)];
  await run('npm', install, { cwd: project });
});
after(() => rmSync(project, { recursive: true }));

/** A program that has to name every event, and is told by the compiler which one it left out. */
const exhaustive = (types: readonly string[]) => `
import { createReceiver, isKnownEvent, memoryStore, toFetchHandler, type AnyEvent, type KnownEvent } from '@filing-webhooks/receiver';

export function describe(event: KnownEvent): string {
  switch (event.type) {
${types.map((type) => `    case '${type}':\n      return event.data.account${type.startsWith('filing.') ? ' + event.data.filingId + event.data.sequence' : ''};`).join('\n')}
    default:
      return event satisfies never;
  }
}
export const any = (event: AnyEvent): string => (isKnownEvent(event) ? describe(event) : event.type);

const seen: string[] = [];
const receiver = createReceiver({
  secrets: process.env.WEBHOOK_SECRET,
  store: memoryStore(),
  handle: (event) => void seen.push(describe(event)),
});
await receiver.ready;
const { headers, body } = JSON.parse(process.env.CALLBACK ?? '') as { headers: Record<string, string>; body: string };
const request = () => new Request('https://example.com/', { method: 'POST', headers, body });
const handle = toFetchHandler(receiver);
console.log((await handle(request())).status, (await handle(request())).status, seen.join());
`;

/** What the parts of programs in the readme take from the program around them. */
const givenToParts = `
import { createServer } from 'node:http';
import express from 'express';
import type { Delivery, Receiver, Taken, Turn } from '@filing-webhooks/receiver';

declare const app: any;
declare const receiver: Receiver;
declare const headers: Headers;
declare const body: Uint8Array;

`;

function writeProgram(name: string, text: string): void {
  writeFileSync(join(project, name), text);
}

// Strict, and with the package's own types checked. Nothing but the platform's types is there unless \`types\` names it.
function check(file: string, types: string[] = []) {
  const options = '--strict --noEmit --target es2022 --lib es2023,dom --module nodenext --skipLibCheck false';
  writeFileSync(
    join(project, 'globals.d.ts'),
    'declare const process: { env: Record<string, string | undefined> };',
  );
  const globals = types.length === 0 ? ['globals.d.ts'] : [];
  return run(process.execPath, [tsc, ...options.split(' '), '--types', types.join(), file, ...globals], {
    cwd: project,
  });
}

test('the package is dist, its readme and its licence, and brings no other package along', async () => {
  const paths = packed.files.map(({ path }) => path);
  assert.deepEqual(paths.filter((path) => !path.startsWith('dist/')).toSorted(), [
    'LICENSE',
    'README.md',
    'package.json',
  ]);
  assert.ok(paths.every((path) => !path.startsWith('dist/') || /\.(?:d\.ts|js)$/.test(path)));
  const installed = readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.'));
  assert.deepEqual(installed, ['@filing-webhooks']);
});

test('a program that switches over every event compiles and runs in an empty project; one that leaves one out does not', async () => {
  writeProgram('program.ts', exhaustive(knownEventTypes));
  writeProgram('lacking.ts', exhaustive(knownEventTypes.filter((type) => type !== 'filing.paid')));
  const checked = check('program.ts');
  await assert.rejects(check('lacking.ts'), ({ stdout }: { stdout: string }) =>
    /FilingPaidEvent.*never/.test(stdout),
  );
  await checked;
  const { headers, body } = signed(filingEvent(7));
  const env = {
    PATH: process.env['PATH'],
    WEBHOOK_SECRET: secret,
    CALLBACK: JSON.stringify({ headers, body: body.toString() }),
  };
  const { stdout } = await run(process.execPath, ['program.ts'], { cwd: project, env });
  assert.equal(stdout, '204 204 defaultf_17\n');
});

test('a program whose variable with the secret is not set compiles, and ends with what is missing', async () => {
  writeProgram('unset.ts', exhaustive(knownEventTypes));
  await check('unset.ts');
  const env = { PATH: process.env['PATH'] };
  await assert.rejects(run(process.execPath, ['unset.ts'], { cwd: project, env }), /is WEBHOOK_SECRET set\?/);
});

test('a program that finds modules as Node 10 did gets the types of every part', async () => {
  writeProgram(
    'former.cts',
    `
import { createReceiver, memoryStore } from '@filing-webhooks/receiver';
import { toExpressHandler } from '@filing-webhooks/receiver/express';
import { toNodeHandler } from '@filing-webhooks/receiver/node';

const receiver = createReceiver({ secrets: '', store: memoryStore(), handle: ({ type }) => void type.length });
export const [ofNode, ofExpress] = [toNodeHandler(receiver), toExpressHandler(receiver)];
export const no: string = receiver.bodyBytesMax;
`,
  );
  const options =
    '--strict --noEmit --target es2022 --module commonjs --moduleResolution node10 --skipLibCheck';
  await assert.rejects(
    run(process.execPath, [ownCompiler, ...options.split(' '), 'former.cts'], { cwd: project }),
    ({ stdout }: { stdout: string }) => /^former\.cts\(8,14\): error TS2322[^\n]*\n$/.test(stdout),
  );
});

test('CommonJS gets the same package by require', async () => {
  writeProgram('program.cjs', `console.log(require('@filing-webhooks/receiver').knownEventTypes.length)`);
  const { stdout } = await run(process.execPath, ['program.cjs'], { cwd: project });
  assert.equal(Number(stdout), knownEventTypes.length);
});

test('the handlers fit the types of node:http, Express and Fastify; what the readme shows compiles', async () => {
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  const from = (name: string) => dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
  for (const name of ['@types/node', 'undici-types'])
    cpSync(from(name), join(project, 'node_modules', name), { recursive: true });
  for (const name of ['express', 'fastify', 'ioredis', 'pg', '@types/express', '@types/pg'])
    symlinkSync(from(name), join(project, 'node_modules', name));
  const servers = `
import { createServer } from 'node:http';
import express from 'express';
import fastify from 'fastify';
import { createReceiver, memoryStore } from '@filing-webhooks/receiver';
import { toExpressHandler } from '@filing-webhooks/receiver/express';
import { toFastifyPlugin } from '@filing-webhooks/receiver/fastify';
import { toNodeHandler } from '@filing-webhooks/receiver/node';

const receiver = createReceiver({ secrets: '${secret}', store: memoryStore(), handle: () => undefined });
express().all('/hooks/filings', toExpressHandler(receiver));
await fastify().register(toFastifyPlugin(receiver), { path: '/hooks/filings' });
createServer(toNodeHandler(receiver));
console.log('ok');
`;
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const shown = [...readme.matchAll(/```(?:ts|js)\n([^]*?)```/g)].map(([, code = '']) => code);
  const isWhole = (code: string) => /import [^]*?createReceiver|^import type /.test(code);
  // The others are parts of a program that has a receiver.
  const parts = shown.filter((code) => !isWhole(code)).map((code) => givenToParts + code);
  const whole = shown.filter(isWhole);
  assert.deepEqual([whole.length, parts.length], [3, 7]);
  writeProgram('servers.ts', servers);
  for (const [name, texts] of Object.entries({ whole, part: parts }))
    for (const [index, text] of texts.entries()) writeProgram(`${name}-${index}.ts`, text);
  const compile = (...files: string[]) => {
    const options = '--noEmit --target es2022 --module nodenext --skipLibCheck true --types node';
    return run(process.execPath, [tsc, ...options.split(' '), ...files], { cwd: project });
  };
  await compile('--strict', 'servers.ts', ...whole.map((_, index) => `whole-${index}.ts`));
  // Most parts are JavaScript, which names no types.
  await compile('--strict', 'false', ...parts.map((_, index) => `part-${index}.ts`));
  assert.equal((await run(process.execPath, ['servers.ts'], { cwd: project })).stdout, 'ok\n');
  assert.ok(readme.includes(postgresTable()));
});

test('the receiver of the readme runs as it stands, and handles a rejection of a real daemon', async () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const [, program = ''] = /`receiver\.mjs`:\n\n```js\n([^]*?)```/.exec(readme) ?? [];
  const port = await freePort();
  writeProgram('receiver.mjs', program.replace('8090', String(port)));
  await using stage = await startStage();
  const subscriptions = '/v1/accounts/default/subscriptions';
  const subscription = await stage.api.ok<{ id: string; secret: string }>('POST', subscriptions, {
    url: `http://127.0.0.1:${port}/`,
  });
  const child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: project,
    env: { PATH: process.env['PATH'], WEBHOOK_SECRET: subscription.secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    let printed = '';
    child.stdout.on('data', (chunk) => (printed += String(chunk)));
    await until('the receiver listens', () => canConnect(port));
    const attemptOf = (type: string) =>
      until(`${type} is sent`, async () => {
        const path = `${subscriptions}/${subscription.id}/attempts`;
        const { items } = await stage.api.ok<{
          items: { outcome: string; statusCode: number; eventType: string }[];
        }>('GET', path);
        return items.find(({ eventType }) => eventType === type) ?? null;
      });
    await stage.sandbox.set('f_readme', { status: 'PENDING' });
    await attemptOf('filing.created');
    await stage.sandbox.set('f_readme', { status: 'REJECTED', rejectionReason: 'Affidavit is not signed' });
    const attempt = await attemptOf('filing.rejected');
    assert.deepEqual([attempt.outcome, attempt.statusCode], ['delivered', 204]);
    assert.equal(printed, 'f_readme Affidavit is not signed\n');
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}
