import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { checkJournals, type Allowance, type Findings } from './check-journals.ts';
import type { World } from '../world/world.ts';

/**
 * Waits until a world has come to rest and compares its journals. Prints what they hold, under the name of
 * the test. Fails on every broken promise, and leaves journals and logs in a folder that it names then.
 */
export async function expectKept(world: World, allowance: Allowance, broken: string): Promise<Findings> {
  const atRest = await world.settle();
  const journals = world.journals();
  const findings = checkJournals(journals, allowance);
  const { violations, ...figures } = findings;
  const line = { broken, ...figures, violations: violations.length, atRest };
  process.stdout.write(`${expect.getState().currentTestName}: ${JSON.stringify(line)}\n`);
  const kept = violations.length === 0 && atRest;
  const evidence = kept ? '' : await writeEvidence(world);
  expect({ violations, atRest }, evidence).toEqual({ violations: [], atRest: true });
  return findings;
}

/** Leaves a world's journals and logs in a new folder; returns where. */
export async function writeEvidence(world: World): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-journals-'));
  const { callbacks, ...others } = world.journals();
  const readable = callbacks.map((callback) => ({ ...callback, body: callback.body.toString() }));
  const lines = (items: readonly unknown[]) => items.map((item) => `${JSON.stringify(item)}\n`).join('');
  await writeFile(join(folder, 'callbacks.jsonl'), lines(readable));
  for (const [name, items] of Object.entries(others))
    await writeFile(join(folder, `${name}.jsonl`), lines(items));
  for (const [i, { logs }] of world.daemons.entries())
    await writeFile(join(folder, `daemon-${i}.jsonl`), lines(logs));
  return `journals and logs are in ${folder}`;
}
