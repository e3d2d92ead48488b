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

/** Where the last transaction of a file begins and ends that contains a text, in bytes from the file's begin. */
export async function lastTransaction(
  file: string,
  text: string,
): Promise<{ readonly from: number; readonly to: number }> {
  const bytes = await readFile(file);
  const exec = '*1\r\n$4\r\nEXEC\r\n';
  const from = bytes.lastIndexOf('*1\r\n$5\r\nMULTI\r\n', bytes.lastIndexOf(text));
  const to = bytes.indexOf(exec, from) + exec.length;
  if (from < 0 || !bytes.subarray(from, to).includes(text))
    throw new Error(`no transaction with ${text} in ${file}`);
  return { from, to };
}
