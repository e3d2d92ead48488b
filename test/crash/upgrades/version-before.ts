import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../../package.json' with { type: 'json' };

/** A version that installations may still run, in the history of this repository. */
export interface FormerVersion {
  readonly name: string;
  readonly commit: string;
}

/** The versions that this one is run beside; a release puts its own commit first. */
export const versionsBefore: readonly FormerVersion[] = [{ name: 'before this one', commit: '3cde1cf9' }];

/** The sources of a former version, with what they need installed. */
export interface FormerTree extends AsyncDisposable {
  /** For `superviseDaemon`. */
  readonly entry: string;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** The entry of the version under test. */
export const presentEntry = join(root, 'src/main.ts');

/** Whether this clone's history has the commit; a shallow clone or an archive lacks it. */
export function isInHistory({ commit }: FormerVersion): boolean {
  const { status } = spawnSync('git', ['cat-file', '-e', `${commit}^{commit}`], { cwd: root });
  return status === 0;
}

/**
 * Takes a former version out of the history into a folder of its own. Its packages are those installed here
 * where they are of the versions it names, otherwise npm installs them.
 */
export async function takeFormerTree({ commit }: FormerVersion): Promise<FormerTree> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-former-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    run('sh', ['-c', 'git archive "$0" src package.json package-lock.json .npmrc | tar -x -C "$1"'], root, [
      commit,
      folder,
    ]);
    if (await hasSamePackages(folder))
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    else run('npm', ['ci', '--omit=dev', '--omit=optional', '--ignore-scripts'], folder);
  } catch (error) {
    await remove();
    throw error;
  }
  return { entry: join(folder, 'src/main.ts'), [Symbol.asyncDispose]: remove };
}

function run(command: string, args: readonly string[], cwd: string, more: readonly string[] = []): void {
  const { status, stderr } = spawnSync(command, [...args, ...more], { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ended with ${String(status)}: ${stderr}`);
}

async function hasSamePackages(folder: string): Promise<boolean> {
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const present: Readonly<Record<string, string | undefined>> = packageJson.dependencies;
  return Object.entries(dependencies).every(([name, version]) => present[name] === version);
}
