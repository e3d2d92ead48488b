// Installs and tests the integrations, one after the other: all, or those named. With --quick it leaves out the tests that start a tool of
// somebody else's as a whole (`npm run test:itself` of a package). Ends with the line `N passed, N failed, N skipped`; the exit code is 0 only
// if every package was installed, was tested and had no failure. With --derive it writes anew what packages take from the schemas and the
// OpenAPI document of the daemon (`npm run derive` of a package), and tests nothing.
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

// npm hands the settings of this folder to what it runs; packages have their own.
delete process.env['npm_config_ignore_scripts'];

const here = fileURLToPath(new URL('.', import.meta.url));
const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean' }, derive: { type: 'boolean' } },
  allowPositionals: true,
});
const all = readdirSync(here).filter((name) => existsSync(join(here, name, 'package.json')));
const unknown = positionals.filter((name) => !all.includes(name));
if (unknown.length > 0) {
  console.error(`There is no integration ${unknown.join(', ')}: there are ${all.join(', ')}.`);
  process.exit(64);
}

if (values.derive) {
  for (const name of all) if ('derive' in scriptsOf(name)) await derive(name);
  process.exit();
}

const sum = { passed: 0, failed: 0, skipped: 0 };
const broken = [];
for (const name of positionals.length === 0 ? all : positionals) await testOne(name);
for (const what of broken) console.log(`failed: ${what}`);
console.log(`${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
process.exitCode = broken.length === 0 && sum.failed === 0 && sum.passed > 0 ? 0 : 1;

async function testOne(name) {
  const folder = join(here, name);
  const scripts = scriptsOf(name);
  const install = existsSync(join(folder, 'package-lock.json'))
    ? ['npm ci --ignore-scripts --no-audit --no-fund']
    : [];
  const tests = ['test', ...(values.quick ? [] : ['test:itself'])].filter((script) => script in scripts);
  for (const command of [...install, ...tests.map((script) => `npm run ${script}`)]) {
    console.log(`== integrations/${name}: ${command}`);
    const { code, output } = await run(command, folder);
    count(output);
    if (code === 0) continue;
    broken.push(`integrations/${name}: ${command} (exit code ${code})`);
    break;
  }
}

function scriptsOf(name) {
  return JSON.parse(readFileSync(join(here, name, 'package.json'), 'utf8')).scripts;
}

async function derive(name) {
  const { code } = await run('npm run derive', join(here, name));
  if (code !== 0) process.exitCode = 1;
}

// Runs a command in a folder, shows what it prints and keeps it.
function run(command, folder) {
  return new Promise((resolve) => {
    const child = spawn('/bin/sh', ['-c', command], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ])
      from.on('data', (chunk) => {
        output += chunk;
        to.write(chunk);
      });
    child.on('close', (code) => resolve({ code, output }));
  });
}

// What the test runners print at their end: Node's own, and Python's unittest.
function count(output) {
  for (const [, what, number] of output.matchAll(/^(?:ℹ|#) (pass|fail|skipped) (\d+)$/gm))
    sum[{ pass: 'passed', fail: 'failed', skipped: 'skipped' }[what]] += Number(number);
  for (const [, ran, rest] of output.matchAll(/^Ran (\d+) tests? in [\s\S]*?^(OK.*|FAILED.*)$/gm)) {
    const of = (word) => Number(new RegExp(`${word}=(\\d+)`).exec(rest)?.[1] ?? 0);
    const failed = of('failures') + of('errors');
    sum.passed += Number(ran) - failed - of('skipped');
    sum.failed += failed;
    sum.skipped += of('skipped');
  }
}
