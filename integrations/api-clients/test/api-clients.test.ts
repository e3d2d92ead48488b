import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, glob, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toOpenApi30 } from '../../../src/api/document/older-document.ts';
import { writeDocument } from '../../../test/support/api/inert-document.ts';
import { startStage, until, type Stage } from '../../testing/stage.ts';

const folder = fileURLToPath(new URL('..', import.meta.url));
const generated = join(folder, 'generated');
const python = join(generated, 'environment/bin/python');

describe('clients that are generated from the OpenAPI documents', () => {
  const stack = new AsyncDisposableStack();
  let stage: Stage;
  let generator: string;

  before(async () => {
    await rm(generated, { recursive: true, force: true });
    await mkdir(generated);
    const document = await writeDocument();
    await writeFile(join(generated, 'openapi.json'), JSON.stringify(document));
    await writeFile(join(generated, 'openapi-3.0.json'), JSON.stringify(toOpenApi30(document)));
    generator = await installGenerator();
    const configurations = ['python', 'go', 'java'].map((name) => join(folder, name, 'generator.yaml'));
    await run(generated, 'java', ['-jar', generator, 'batch', '--threads', '2', ...configurations]);
    stage = stack.use(await startStage());
    await bring({ status: 'PENDING' }, 'filing.created');
    await bring({ status: 'REJECTED', rejectionReason: 'Affidavit is not signed' }, 'filing.rejected');
  });

  after(() => stack.disposeAsync());

  // Changes a filing, and waits until the event of it is in the log.
  async function bring(fields: object, type: string): Promise<void> {
    await stage.sandbox.set('f_rejected', { ...fields });
    await until(type, async () => {
      const { items } = await stage.api.ok<{ items: object[] }>(
        'GET',
        `/v1/accounts/default/events?types=${type}`,
      );
      return items.length > 0;
    });
  }

  // Runs a program that does the whole cycle, and compares what it says with what every client has to get.
  async function cycle(language: string, command: string, args: readonly string[]): Promise<void> {
    const { url: API_URL, token: API_TOKEN } = stage;
    const PARTNER_URL = stage.sandbox.baseUrl;
    const { stdout } = await run(folder, command, args, { API_URL, API_TOKEN, PARTNER_URL });
    assert.deepEqual(JSON.parse(stdout), {
      account: `made-in-${language}`,
      hasSecret: true,
      isListed: true,
      description: 'changed',
      rejections: ['Affidavit is not signed'],
      error: [404, 'subscription_not_found'],
    });
  }

  test('TypeScript, by openapi-typescript and openapi-fetch', async () => {
    const bin = join(folder, 'node_modules/.bin');
    const api = join(generated, 'typescript/api.ts');
    await run(folder, join(bin, 'openapi-typescript'), [join(generated, 'openapi.json'), '-o', api]);
    await run(folder, join(bin, 'tsc'), ['-p', '.']);
    await cycle('typescript', process.execPath, ['typescript/cycle.ts']);
  });

  test('Python, by openapi-generator', async () => {
    await cycle('python', python, ['python/cycle.py']);
  });

  test('Go, by openapi-generator', async () => {
    const module = join(generated, 'go');
    await cp(join(folder, 'go/main.go'), join(module, 'cycle/main.go'));
    await run(module, 'go', ['build', '-o', join(generated, 'cycle'), './cycle'], { GOFLAGS: '-mod=mod' });
    await cycle('go', join(generated, 'cycle'), []);
  });

  test('Java, by openapi-generator', async () => {
    const classes = join(generated, 'classes');
    const sources = await Array.fromAsync(glob('{java,generated/java/src/main}/**/*.java', { cwd: folder }));
    // The generator's archive has the JSON library that the client needs.
    await run(folder, 'javac', ['-nowarn', '-proc:none', '-cp', generator, '-d', classes, ...sources]);
    await cycle('java', 'java', ['-cp', `${classes}:${generator}`, 'Cycle']);
  });
});

// Installs the generator and the packages of the Python client. Returns the path of the generator's Java archive.
async function installGenerator(): Promise<string> {
  const requirements = join(folder, 'python/requirements.txt');
  const arguments_ = ['--quiet', '--disable-pip-version-check', '--require-hashes', '-r', requirements];
  await run(folder, 'python3', ['-m', 'venv', join(generated, 'environment')]);
  // An index that does not answer fails the tests within a minute, with what pip says.
  await run(folder, python, ['-m', 'pip', 'install', '--retries', '2', '--timeout', '15', ...arguments_]);
  const [archive] = await Array.fromAsync(
    glob('environment/lib/python*/site-packages/openapi_generator_cli/*.jar', { cwd: generated }),
  );
  assert.ok(archive !== undefined, 'the package of openapi-generator has no Java archive');
  return join(generated, archive);
}

// Runs a program to its end. Throws what it printed where its exit code is not 0.
async function run(cwd: string, command: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const env = { ...process.env, PYTHONPATH: join(generated, 'python'), ...more };
  try {
    return await promisify(execFile)(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    const said = `${stdout}${stderr}`.slice(0, 4_000);
    throw new Error(`${command} ${args.slice(0, 6).join(' ')} failed: ${said}`);
  }
}
