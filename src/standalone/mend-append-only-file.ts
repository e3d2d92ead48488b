import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { cp, readdir, rm, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { findExecutable } from '../redis/server/find-server.ts';
import { names } from './data-folder.ts';
import { explained, StandaloneError } from './standalone-error.ts';

export interface MendDeps {
  readonly folder: string;
  /** The file of the server, beside which its tool lies. */
  readonly executable: string;
  readonly logger: Logger;
}

/** Whether a server did not start because of its append-only file, by its output. */
export function isRefused(output: string): boolean {
  return /(?:redis|valkey)-check-aof|Bad file format|Unexpected end of file/i.test(output);
}

/**
 * Has the server's own tool cut off what the server refuses at the end of its append-only file, after the
 * files were copied as they are; the log says what was cut. Rejects with StandaloneError when that is not
 * possible; the files are as they were then, or in the copy.
 */
export async function mendAppendOnlyFile({ folder, executable, logger }: MendDeps): Promise<void> {
  const source = join(folder, names.appendOnly);
  const path = [dirname(executable), process.env['PATH'] ?? ''].join(delimiter);
  const tools = [
    basename(executable).replace('-server', '-check-aof'),
    'redis-check-aof',
    'valkey-check-aof',
  ];
  const tool = findExecutable(tools, path);
  if (tool === null)
    throw new StandaloneError(
      `${executable} refuses its files in ${source}, and its tool redis-check-aof is not there to mend them: install it (package redis-tools), or restore a backup`,
    );
  const kept = `${source}.refused-${new Date().toISOString().replaceAll(':', '')}`;
  await explained(folder, async () => {
    const options = { recursive: true, mode: constants.COPYFILE_FICLONE, errorOnExist: true };
    await cp(source, kept, options).catch(async (error: unknown) => {
      await rm(kept, { recursive: true, force: true });
      throw error;
    });
  });
  const bytes = await bytesOf(source);
  const { code, output } = await run(tool, ['--fix', join(source, 'appendonly.aof.manifest')]);
  if (code !== 0)
    throw new StandaloneError(
      `${tool} cannot mend the files in ${source} (${output.trim().slice(-300)}): restore a backup; they are as they were in ${kept}`,
    );
  const cutBytes = bytes - (await bytesOf(source));
  logger.error({ cutBytes, kept, said: output.trim().slice(-600) }, 'redis_server.file_mended');
}

async function bytesOf(folder: string): Promise<number> {
  const sizes = (await readdir(folder)).map(async (name) => (await stat(join(folder, name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

// The tool asks before it cuts.
async function run(tool: string, args: readonly string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(tool, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-4_000)));
  child.stdin.on('error', () => undefined).end('y\n');
  return await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, output }));
  });
}
