import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readEnvFile, textOf, type Environment } from '../config/environment.ts';
import { checkMode, names } from './data-folder.ts';
import { explained, StandaloneError } from './standalone-error.ts';
import { writeDurably } from './write-durably.ts';

/** The secrets of a data folder, and whether they were made by this start. */
export interface FolderSecrets {
  readonly values: Environment;
  readonly made: boolean;
}

const needed = ['API_TOKEN', 'ENCRYPTION_KEY'] as const;

/**
 * The API token and the encryption key of a data folder, made when the folder is new and never written again.
 * None when the environment has both. Rejects with StandaloneError when they cannot be read, are open to
 * other users, or are missing beside data that was sealed with them.
 */
export function secretsOf(folder: string, env: Environment): Promise<FolderSecrets> {
  return explained(folder, () => {
    if (needed.every((name) => textOf(env, name) !== null)) return { values: {}, made: false };
    const file = join(folder, names.secrets);
    if (existsSync(file)) return { values: readSecrets(file), made: false };
    if (existsSync(join(folder, names.appendOnly)))
      throw new StandaloneError(
        `${file} is missing, and what ${folder} holds is sealed with its key: bring the file back from a backup, or set ${needed.join(' and ')}`,
      );
    const token = randomBytes(24).toString('hex');
    const key = randomBytes(32).toString('base64');
    writeDurably(file, `API_TOKEN=${token}\nENCRYPTION_KEY=${key}\n`);
    return { values: readSecrets(file), made: true };
  });
}

function readSecrets(file: string): Environment {
  checkMode(file, '600');
  const values = readEnvFile(file);
  const missing = needed.find((name) => textOf(values, name) === null);
  if (missing === undefined) return values;
  throw new StandaloneError(
    `${file} has no ${missing}: bring the file back from a backup, or set ${missing}`,
  );
}
