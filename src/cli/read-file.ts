import { readFile } from 'node:fs/promises';
import { CliError } from './cli-error.ts';

/** The bytes of a file that an option names. Throws a CliError where it cannot be read. */
export async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new CliError('noInput', `${file} cannot be read (${code}): check its name.`);
  }
}
