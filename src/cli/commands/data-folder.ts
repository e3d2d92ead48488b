import { CliError, exitCodes } from '../cli-error.ts';
import { atMost, type Command, type Input } from '../command.ts';
import type { Environment } from '../../config/environment.ts';

const dataOption = { data: { value: 'DIR', text: 'the data folder (DATA_DIR; default: ./data)' } };

/** `backup`: copies the data folder of a daemon without REDIS_URL. */
export const backup: Command = {
  name: 'backup',
  summary: 'copy the folder in which a daemon without REDIS_URL keeps everything, also while it runs',
  usage: '',
  options: { to: { value: 'FOLDER', text: 'an empty folder, or one to be made' }, ...dataOption },
  examples: ['filing-webhooks backup --to /backup/monday', 'filing-webhooks backup --data /srv/fw --to copy'],
  async run(input, { env, out, note }) {
    atMost(input, 0);
    const to = folderOf(input, 'to');
    const { hasSecrets } = await copy(dataFolder(input, env), to);
    out(`${to} is a copy, with its secrets: keep it as safe as the folder itself.`);
    if (!hasSecrets) note('ENCRYPTION_KEY comes from a variable and is not in it: keep it elsewhere.');
    return exitCodes.ok;
  },
};

/** `restore`: makes a data folder of a backup. */
export const restore: Command = {
  name: 'restore',
  summary: 'make an empty folder the data folder that a backup is a copy of',
  usage: '',
  options: { from: { value: 'FOLDER', text: 'a folder that backup has made' }, ...dataOption },
  examples: ['filing-webhooks restore --from /backup/monday', 'filing-webhooks start'],
  async run(input, { env, out }) {
    atMost(input, 0);
    const data = dataFolder(input, env);
    await copy(folderOf(input, 'from'), data);
    out(`${data} is as the backup was. Start the daemon on it.`);
    return exitCodes.ok;
  },
};

function folderOf(input: Input, option: string): string {
  const folder = input.text(option);
  if (folder === null) throw new CliError('usage', `--${option} is missing: --help shows examples.`);
  return folder;
}

function dataFolder(input: Input, env: Environment): string {
  return input.text('data') ?? (env['DATA_DIR'] || './data');
}

async function copy(from: string, to: string) {
  const { copyDataFolder } = await import('../../standalone/copy-folder.ts');
  const { StandaloneError } = await import('../../standalone/standalone-error.ts');
  try {
    return await copyDataFolder(from, to);
  } catch (error) {
    throw error instanceof StandaloneError ? new CliError('noInput', `${error.message}.`) : error;
  }
}
