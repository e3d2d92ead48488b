import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StandaloneError } from './standalone-error.ts';

// SQLITE_BUSY: another process has the lock.
const busy = 5;

/**
 * Takes a folder for this process, until it is disposed of or the process ends, whatever its end. Throws
 * StandaloneError, with the holder's process id, while another process has it. The lock is SQLite's on a
 * file, which the kernel releases; the file stays.
 */
export function lockFolder(folder: string): Disposable {
  const file = join(folder, 'lock');
  // SQLite does not say why it cannot open a file; the system does.
  closeSync(openSync(file, 'a', 0o600));
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    writeFileSync(join(folder, 'pid'), `${process.pid}\n`, { mode: 0o600 });
  } catch (error) {
    database.close();
    throw (error as { errcode?: number }).errcode === busy ? inUse(folder) : error;
  }
  return { [Symbol.dispose]: () => database.close() };
}

function inUse(folder: string): StandaloneError {
  const pid = readFileSync(join(folder, 'pid'), 'utf8').trim();
  return new StandaloneError(
    `${folder} is in use by process ${pid || 'that has just begun'}: end that one first, or name another folder`,
  );
}
