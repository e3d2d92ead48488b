import { chmod, constants, copyFile, mkdir, open, readFile, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { checkDataFolder, markDataFolder, names, openEmptyFolder } from './data-folder.ts';
import { explained, StandaloneError } from './standalone-error.ts';
import { syncFolder, writeDurably } from './write-durably.ts';

/** Outcome of a copy: whether the secrets were in the folder, and not only in the environment. */
export interface FolderCopy {
  readonly hasSecrets: boolean;
}

const manifest = 'appendonly.aof.manifest';
// A server rewrites its files when they have doubled, so a second attempt finds them at rest.
const attemptsMax = 3;

/**
 * Copies a data folder, also one in use, into a folder that is empty or does not exist; the copy is a data
 * folder as it was at one moment, and durable. Rejects with StandaloneError, with nothing left in the target.
 */
export async function copyDataFolder(from: string, to: string): Promise<FolderCopy> {
  const source = resolve(from);
  await explained(source, () => checkDataFolder(source, ': name the data folder of a daemon, or a backup'));
  using target = await openEmptyFolder(to);
  const { path } = target;
  const hasSecrets = existsSync(join(source, names.secrets));
  try {
    await explained(path, async () => {
      if (hasSecrets) await copyDurably(source, path, names.secrets);
      if (existsSync(join(source, names.appendOnly)))
        await copyAppendOnly(join(source, names.appendOnly), join(path, names.appendOnly));
      markDataFolder(path);
    });
  } catch (error) {
    await Promise.all([names.secrets, names.appendOnly].map((name) => remove(join(path, name))));
    throw error;
  }
  return { hasSecrets };
}

// The server only appends to the files that its manifest names, or replaces them together with the manifest:
// files under one manifest belong together. The end of the last one may be cut, as after a crash.
async function copyAppendOnly(source: string, target: string): Promise<void> {
  for (let attempts = 0; attempts < attemptsMax; attempts += 1) {
    await mkdir(target, { mode: 0o700 });
    const text = await readFile(join(source, manifest), 'utf8');
    const files = [...text.matchAll(/^file (\S+) seq \d+ type [bi]$/gm)].map(([, name = '']) => name);
    const isWhole = await copyAll(source, target, files);
    if (isWhole && (await readFile(join(source, manifest), 'utf8')) === text) {
      writeDurably(join(target, manifest), text);
      return;
    }
    await remove(target);
  }
  throw new StandaloneError(`${source} was rewritten during each of ${attemptsMax} copies: try again later`);
}

// False if a file is gone.
async function copyAll(source: string, target: string, files: readonly string[]): Promise<boolean> {
  try {
    for (const name of files) await copyDurably(source, target, name);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

async function copyDurably(source: string, target: string, name: string): Promise<void> {
  const file = join(target, name);
  await copyFile(join(source, name), file, constants.COPYFILE_FICLONE);
  await chmod(file, 0o600);
  await using copied = await open(file);
  await copied.sync();
  syncFolder(target);
}

function remove(path: string): Promise<void> {
  return rm(path, { recursive: true, force: true });
}
