import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '../../../testing/stage.ts';
import { installN8n } from './install-n8n.mts';

/** An execution as n8n lists it. */
export interface Execution {
  readonly id: string;
  readonly status: string;
  readonly workflowId: string;
}

/** n8n as its users run it: a process of its own with a folder of its own, and the packed nodes installed as a community package. */
export interface N8n extends AsyncDisposable {
  readonly url: string;
  /** What it has printed so far. */
  readonly output: () => string;
  /** Session of the owner, as a browser holds it. */
  readonly cookie: () => { readonly name: string; readonly value: string };
  /** Milliseconds from the start of the process until it was ready, at each start. */
  readonly startsMs: readonly number[];
  /** Calls n8n's REST API as the owner; throws unless the answer is a 2xx, and gives its `data`. */
  rest<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  /** Ends the process with a signal. */
  stop(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again, on the same port and folder. */
  start(): Promise<void>;
  /** Executions of a workflow, the newest first. */
  executions(workflowId: string): Promise<Execution[]>;
  /** What the named node put out in an execution. */
  outputOf(executionId: string, node: string): Promise<Record<string, unknown>[]>;
}

const owner = {
  email: 'owner@example.com',
  firstName: 'Ada',
  lastName: 'Owner',
  password: 'Filings-2026-n8n',
};
const here = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** Starts n8n on loopback, with the package as `npm pack` makes it, and sets up its owner. */
export async function startN8n(): Promise<N8n> {
  const command = await installN8n();
  const folder = mkdtempSync(join(tmpdir(), 'n8n-home-'));
  await installNodes(folder);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startsMs: number[] = [];
  let child: ChildProcess | null = null;
  let output = '';
  let cookie = { name: 'n8n-auth', value: '' };

  const start = async () => {
    const began = Date.now();
    child = spawn(process.execPath, [command, 'start'], {
      cwd: folder,
      env: { ...environment(folder, port), PATH: process.env['PATH'], TZ: 'UTC' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const { exitCode } = await until(
      'the start of n8n',
      async () => {
        if (child?.exitCode !== null) return { exitCode: child?.exitCode };
        const ready = await fetch(`${url}/healthz/readiness`).then(
          (answer) => answer.ok,
          () => false,
        );
        return ready && (await answers(`${url}/rest/settings`)) ? { exitCode: null } : null;
      },
      180_000,
    );
    if (exitCode !== null) throw new Error(`n8n ended with ${exitCode}: ${output}`);
    startsMs.push(Date.now() - began);
  };
  const stop = async (signal: NodeJS.Signals) => {
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await exited;
  };
  const rest = async <T,>(method: string, path: string, body?: unknown): Promise<T> => {
    const answer = await fetch(`${url}/rest${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        cookie: `${cookie.name}=${cookie.value}`,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} of n8n answered ${answer.status}: ${text}`);
    const set = answer.headers.getSetCookie().find((one) => one.startsWith('n8n-auth='));
    if (set !== undefined)
      cookie = { name: 'n8n-auth', value: set.slice('n8n-auth='.length).split(';')[0] ?? '' };
    return (JSON.parse(text) as { data: T }).data;
  };

  await start();
  await rest('POST', '/owner/setup', owner);
  return {
    url,
    output: () => output,
    cookie: () => cookie,
    startsMs,
    rest,
    stop,
    start,
    async executions(workflowId) {
      const filter = encodeURIComponent(JSON.stringify({ workflowId }));
      const { results } = await rest<{ results: Execution[] }>(
        'GET',
        `/executions?limit=100&filter=${filter}`,
      );
      return results;
    },
    async outputOf(executionId, node) {
      const { data } = await rest<{ data: string }>('GET', `/executions/${executionId}?includeData=true`);
      return itemsOf(data, node);
    },
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// Everything that n8n would ask others for is off, and what is left would end at a proxy that is not there.
function environment(folder: string, port: number): Record<string, string> {
  return {
    N8N_USER_FOLDER: folder,
    N8N_HOST: '127.0.0.1',
    N8N_LISTEN_ADDRESS: '127.0.0.1',
    N8N_PORT: String(port),
    N8N_WEBHOOK_URL: `http://127.0.0.1:${port}/`,
    N8N_RUNNERS_BROKER_PORT: String(port + 1),
    N8N_ENCRYPTION_KEY: 'the-key-of-n8n-in-tests',
    N8N_DIAGNOSTICS_ENABLED: 'false',
    N8N_DYNAMIC_BANNERS_ENABLED: 'false',
    N8N_HIRING_BANNER_ENABLED: 'false',
    N8N_LICENSE_AUTO_RENEW_ENABLED: 'false',
    N8N_PERSONALIZATION_ENABLED: 'false',
    N8N_TEMPLATES_ENABLED: 'false',
    N8N_VERSION_NOTIFICATIONS_ENABLED: 'false',
    N8N_UNVERIFIED_PACKAGES_ENABLED: 'true',
    N8N_VERIFIED_PACKAGES_ENABLED: 'false',
    N8N_SECURE_COOKIE: 'false',
    HTTP_PROXY: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
    NO_PROXY: '127.0.0.1,localhost',
  };
}

/** Installs the packed nodes where n8n keeps community packages, in the way in which it does. */
async function installNodes(folder: string): Promise<void> {
  const nodes = join(folder, '.n8n/nodes');
  mkdirSync(nodes, { recursive: true });
  writeFileSync(join(nodes, 'package.json'), '{ "name": "installed-nodes", "private": true }');
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', nodes], { cwd: here });
  const packed: unknown = JSON.parse(stdout);
  const [{ filename }] = Object.values(packed as object) as [{ filename: string }];
  await run(
    'npm',
    ['install', '--ignore-scripts', '--legacy-peer-deps', '--no-audit', '--no-fund', `./${filename}`],
    { cwd: nodes },
  );
}

/** The items of a node in the data of an execution, which n8n writes as a list of values that refer to each other by their places. */
function itemsOf(data: string, node: string): Record<string, unknown>[] {
  const values = JSON.parse(data) as unknown[];
  const resolve = (value: unknown): unknown => {
    if (typeof value === 'string') return resolveValue(values[Number(value)]);
    return resolveValue(value);
  };
  const resolveValue = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, resolve(one)]));
    return value;
  };
  const { resultData } = resolveValue(values[0]) as {
    resultData: {
      runData: Record<string, { data?: { main: ({ json: Record<string, unknown> }[] | null)[] } }[]>;
    };
  };
  const runs = resultData.runData[node] ?? [];
  return runs.flatMap(({ data: out }) =>
    (out?.main ?? []).flatMap((items) => (items ?? []).map(({ json }) => json)),
  );
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (answer) => answer.ok && (answer.headers.get('content-type') ?? '').includes('json'),
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
