import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { until } from '../../../testing/stage.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const expected = '204 401 204 401 204 401';

let project: string;
before(async () => {
  project = mkdtempSync(join(tmpdir(), 'receiver-runtimes-'));
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: root });
  const [{ filename }] = JSON.parse(stdout.slice(stdout.indexOf('['))) as [{ filename: string }];
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  // Each of them is its runtime itself; nothing else of them is run.
  const runtimes = ['bun@1.4.5', 'deno@2.9.6', 'workerd@1.20261117.1'];
  const install = [
    'install',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    join(project, filename),
    ...runtimes,
  ];
  await run('npm', install, { cwd: project });
  copyFileSync(join(root, 'test/runtimes/program.mjs'), join(project, 'program.mjs'));
  const main = "import { answers } from './program.mjs';\nconsole.log(await answers());\n";
  writeFileSync(join(project, 'main.mjs'), main);
});
after(() => rmSync(project, { recursive: true }));

// The programs themselves: their installation scripts, which would link them, are not run.
const program = (pattern: string) => {
  const [file] = globSync(join(project, 'node_modules', pattern));
  assert.ok(file, `${pattern} is not there`);
  return file;
};

test('Bun verifies v1 and v1a', async () => {
  const { stdout } = await run(program('@oven/bun-*/bin/bun'), ['main.mjs'], {
    cwd: project,
    timeout: 20_000,
  });
  assert.equal(stdout.trim(), expected);
});

test('Deno verifies v1 and v1a', async () => {
  const args = ['run', '--no-lock', '--node-modules-dir=manual', 'main.mjs'];
  const { stdout } = await run(program('@deno/linux-*/deno'), args, { cwd: project, timeout: 20_000 });
  assert.equal(stdout.trim(), expected);
});

test('a worker verifies v1 and v1a', async () => {
  const dist = join(project, 'node_modules/@filing-webhooks/receiver/dist');
  const text = readFileSync(join(project, 'program.mjs'), 'utf8');
  writeFileSync(
    join(project, 'worker.mjs'),
    `${text.replace('@filing-webhooks/receiver', './dist/index.js')}
export default { fetch: async () => new Response(await answers()) };`,
  );
  const modules = globSync(`${dist}/**/*.js`)
    .filter((file) => !/(?:node|express|fastify)\.js$/.test(file))
    .map((file) => `(name = "dist/${relative(dist, file)}", esModule = embed "${relative(project, file)}")`);
  const port = await freePort();
  writeFileSync(
    join(project, 'config.capnp'),
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.mjs", esModule = embed "worker.mjs"), ${modules.join(', ')}],
    compatibilityDate = "2025-06-01"
  ))],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);`,
  );
  const worker = spawn(program('@cloudflare/workerd-linux-*/bin/workerd'), ['serve', 'config.capnp'], {
    cwd: project,
    stdio: 'inherit',
  });
  const answer = await until('the worker', () =>
    fetch(`http://127.0.0.1:${port}/`).then(
      (response) => response.text(),
      () => null,
    ),
  ).finally(() => worker.kill());
  assert.equal(answer, expected);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
