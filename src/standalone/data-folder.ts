import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { lockFolder } from './folder-lock.ts';
import { explained, StandaloneError } from './standalone-error.ts';
import { writeDurably } from './write-durably.ts';

/** A data folder that no other process uses until it is disposed of, or this process ends. */
export interface DataFolder extends Disposable {
  /** Its absolute path. */
  readonly path: string;
}

/** The files and folders in a data folder. */
export const names = {
  version: 'version',
  secrets: 'secrets.env',
  socket: 'redis.sock',
  appendOnly: 'appendonlydir',
} as const;

// Raised when a version lays the folder out in another way.
const format = '1';
// Names in a folder that counts as empty: those of an interrupted first start, and of a new file system.
const ofEmptyFolder = new Set(['lock', 'pid', `${names.version}.new`, 'lost+found']);

/**
 * Opens a data folder for this process alone; one that is missing or empty is made, for this user only.
 * Rejects with StandaloneError for a folder that is in use, of another format, open to other users, or no
 * data folder; nothing is changed then.
 */
export function openDataFolder(path: string): Promise<DataFolder> {
  return explained(resolve(path), () => {
    const folder = make(path);
    if (!isEmpty(folder)) checkDataFolder(folder, ': name an empty folder, or one that does not exist yet');
    using unlessOpened = new DisposableStack();
    const opened = unlessOpened.use(take(folder));
    if (isEmpty(folder)) markDataFolder(folder);
    unlessOpened.move();
    return opened;
  });
}

/** As `openDataFolder`, for a folder that has to be empty; it is no data folder until it is marked as one. */
export function openEmptyFolder(path: string): Promise<DataFolder> {
  return explained(resolve(path), () => {
    const folder = make(path);
    if (!isEmpty(folder))
      throw new StandaloneError(`${folder} is not empty: name one that is, or that does not exist yet`);
    return take(folder);
  });
}

/** Makes a folder a data folder, durably: what was written into it before is complete. */
export function markDataFolder(folder: string): void {
  writeDurably(join(folder, names.version), `${format}\n`);
}

/**
 * Throws StandaloneError unless this is a data folder of this format, for its user only; `advice` completes
 * the message about one that is none.
 */
export function checkDataFolder(folder: string, advice: string): void {
  const found = formatOf(folder);
  if (found === null)
    throw new StandaloneError(`${folder} is not a data folder, it has no file "${names.version}"${advice}`);
  if (found !== format)
    throw new StandaloneError(
      `${folder} is of format ${found}, and this version reads and writes format ${format}: run the filing-webhooks that made it, or name another folder`,
    );
  checkMode(folder, '700');
}

/** Throws StandaloneError if others than the user may use a file or folder, which should have this mode. */
export function checkMode(path: string, mode: string): void {
  if ((statSync(path).mode & 0o077) !== 0)
    throw new StandaloneError(`${path} is open to other users: chmod ${mode} ${path}`);
}

function make(path: string): string {
  const folder = resolve(path);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    // Node says so of a read-only file system; without `recursive` it gives the reason.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    mkdirSync(folder, { mode: 0o700 });
  }
  return folder;
}

function take(folder: string): DataFolder {
  const lock = lockFolder(folder);
  if (isEmpty(folder)) chmodSync(folder, 0o700);
  return { path: folder, [Symbol.dispose]: () => lock[Symbol.dispose]() };
}

function isEmpty(folder: string): boolean {
  return readdirSync(folder).every((name) => ofEmptyFolder.has(name));
}

function formatOf(folder: string): string | null {
  try {
    return readFileSync(join(folder, names.version), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}
