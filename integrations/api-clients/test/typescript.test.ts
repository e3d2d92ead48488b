import { join } from 'node:path';
import process from 'node:process';
import { before, test } from 'node:test';
import { folder, generated, run, startCycleStage, writeDocuments } from './cycle-stage.ts';

before(writeDocuments);

test('TypeScript, by openapi-typescript and openapi-fetch', async () => {
  const bin = join(folder, 'node_modules/.bin');
  const api = join(generated, 'typescript/api.ts');
  await run(folder, join(bin, 'openapi-typescript'), [join(generated, 'openapi.json'), '-o', api]);
  await run(folder, join(bin, 'tsc'), ['-p', '.']);
  await using stage = await startCycleStage();
  await stage.cycle('typescript', process.execPath, ['typescript/cycle.ts']);
});
