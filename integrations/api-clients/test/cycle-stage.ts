import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { toOpenApi30 } from '../../../src/api/document/finish-document.ts';
import { writeDocument } from '../../../test/support/api/inert-document.ts';
import { startStage, until, type Stage } from '../../testing/stage.ts';

export const folder = fileURLToPath(new URL('..', import.meta.url));
export const generated = join(folder, 'generated');

/** A daemon whose log has a rejection. */
export interface CycleStage extends AsyncDisposable {
  /** Runs a program that does the whole cycle, and compares what it says with what every client has to get. */
  cycle(language: string, command: string, args: readonly string[]): Promise<void>;
}

/** Writes both documents of the API into an empty folder `generated`. */
export async function writeDocuments(): Promise<void> {
  await rm(generated, { recursive: true, force: true });
  await mkdir(generated);
  const document = await writeDocument();
  await writeFile(join(generated, 'openapi.json'), JSON.stringify(document));
  await writeFile(join(generated, 'openapi-3.0.json'), JSON.stringify(toOpenApi30(document)));
}

/** Starts the daemon and has it see a filing rejected. */
export async function startCycleStage(): Promise<CycleStage> {
  const stage = await startStage();
  await bring(stage, { status: 'PENDING' }, 'filing.created');
  await bring(stage, { status: 'REJECTED', rejectionReason: 'Affidavit is not signed' }, 'filing.rejected');
  return {
    async cycle(language, command, args) {
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
    },
    [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
  };
}

// Changes a filing, and waits until the event of it is in the log.
async function bring(stage: Stage, fields: object, type: string): Promise<void> {
  await stage.sandbox.set('f_rejected', { ...fields });
  await until(type, async () => {
    const path = `/v1/accounts/default/events?types=${type}`;
    const { items } = await stage.api.ok<{ items: object[] }>('GET', path);
    return items.length > 0;
  });
}

/** Runs a program to its end. Throws what it printed where its exit code is not 0. */
export async function run(
  cwd: string,
  command: string,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
) {
  const env = { ...process.env, PYTHONPATH: join(generated, 'python'), ...more };
  try {
    return await promisify(execFile)(command, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    const said = `${stdout}${stderr}`.slice(0, 4_000);
    throw new Error(`${command} ${args.slice(0, 6).join(' ')} failed: ${said}`);
  }
}
