import { readdir, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';

/** The file at the end of a Redis's append-only log: the one that the last commands went to. */
export async function lastAppendOnlyFile(directory: string): Promise<string> {
  const folder = join(directory, 'appendonlydir');
  const names = (await readdir(folder)).filter((name) => name.endsWith('.incr.aof'));
  const last = names.toSorted((a, b) => numberOf(a) - numberOf(b)).at(-1);
  if (last === undefined) throw new Error(`no append-only file in ${folder}`);
  return join(folder, last);
}

function numberOf(name: string): number {
  return Number(/\.(\d+)\.incr/.exec(name)?.[1]);
}

/** Cuts so many bytes off, as a machine does that loses power in the middle of a write. */
export async function cutTail(file: string, bytes: number): Promise<void> {
  await truncate(file, Math.max(0, (await stat(file)).size - Math.ceil(bytes)));
}

/**
 * Where the last transaction that contains a text begins and ends in a file, in bytes from the file's begin;
 * null where none does.
 */
export async function lastTransaction(
  file: string,
  text: string,
): Promise<{ readonly from: number; readonly to: number } | null> {
  const bytes = await readFile(file);
  const [multi, exec] = ['*1\r\n$5\r\nMULTI\r\n', '*1\r\n$4\r\nEXEC\r\n'];
  for (
    let from = bytes.lastIndexOf(multi);
    from >= 0;
    from = from === 0 ? -1 : bytes.lastIndexOf(multi, from - 1)
  ) {
    const to = bytes.indexOf(exec, from) + exec.length;
    if (to > from && bytes.subarray(from, to).includes(text)) return { from, to };
  }
  return null;
}
