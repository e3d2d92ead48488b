import assert from 'node:assert/strict';
import { cp, glob } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { folder, generated, run, startCycleStage, writeDocuments, type CycleStage } from '../cycle-stage.ts';

const python = join(generated, 'environment/bin/python');

describe('clients that openapi-generator makes', () => {
  const stack = new AsyncDisposableStack();
  let stage: CycleStage;
  let generator: string;

  before(async () => {
    await writeDocuments();
    generator = await installGenerator();
    const configurations = ['python', 'go', 'java'].map((name) => join(folder, name, 'generator.yaml'));
    await run(generated, 'java', ['-jar', generator, 'batch', '--threads', '2', ...configurations]);
    stage = stack.use(await startCycleStage());
  });

  after(() => stack.disposeAsync());

  test('Python', async () => {
    await stage.cycle('python', python, ['python/cycle.py']);
  });

  test('Go', async () => {
    const module = join(generated, 'go');
    await cp(join(folder, 'go/main.go'), join(module, 'cycle/main.go'));
    await run(module, 'go', ['build', '-o', join(generated, 'cycle'), './cycle'], { GOFLAGS: '-mod=mod' });
    await stage.cycle('go', join(generated, 'cycle'), []);
  });

  test('Java', async () => {
    const classes = join(generated, 'classes');
    const sources = await Array.fromAsync(glob('{java,generated/java/src/main}/**/*.java', { cwd: folder }));
    // The generator's archive has the JSON library that the client needs.
    await run(folder, 'javac', ['-nowarn', '-proc:none', '-cp', generator, '-d', classes, ...sources]);
    await stage.cycle('java', 'java', ['-cp', `${classes}:${generator}`, 'Cycle']);
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
