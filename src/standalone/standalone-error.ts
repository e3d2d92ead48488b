import { UnreadableFileError } from '../config/environment.ts';

/**
 * The data folder, or the server in it, cannot be used. The message says why and what the operator is to do.
 */
export class StandaloneError extends Error {
  override readonly name = 'StandaloneError';
}

const foreign = 'is not for the user of this process: give it to that user (chown), or name another folder';
const full = 'make room there, then try again';
const meanings: Readonly<Record<string, string>> = {
  EACCES: foreign,
  EPERM: foreign,
  EROFS: 'is on a file system that can only be read: mount it for writing, or name another folder',
  ENOSPC: `is on a disk that is full: ${full}`,
  EDQUOT: `has used up the quota of its user: ${full}`,
  EEXIST: 'is a file, not a folder: name another',
  ENOTDIR: 'is not a folder, or lies below a file: name another',
  ENOENT: 'does not exist, and cannot be made: name another folder',
};

/**
 * Runs the work on a folder. An error of the file system, or of a file that cannot be read, becomes a
 * StandaloneError that names the folder or the file.
 */
export async function explained<T>(folder: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnreadableFileError) throw new StandaloneError(error.message, { cause: error });
    const { code, path = folder } = error as NodeJS.ErrnoException;
    if (error instanceof StandaloneError || code === undefined) throw error;
    const meaning = meanings[code] ?? `cannot be used (${code}): name another folder`;
    throw new StandaloneError(`${path} ${meaning}`, { cause: error });
  }
}
