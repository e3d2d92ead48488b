// Packs the daemon as it is published into a folder (without an argument: this one), and prints the path of the tarball. A second argument is the
// address of the repository. Neither the clock, the user nor the folder has a part in it: the same sources give the same bytes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [, , target = '.', ...repository] = process.argv;
const parent = mkdtempSync(join(tmpdir(), 'filing-webhooks-package-'));
try {
  const folder = join(parent, 'package');
  const stage = fileURLToPath(new URL('stage.mjs', import.meta.url));
  execFileSync(process.execPath, [stage, folder, ...repository], { stdio: ['ignore', 'inherit', 'inherit'] });
  const command = ['pack', '--json', '--ignore-scripts', '--pack-destination', resolve(target)];
  const [{ filename }] = JSON.parse(execFileSync('npm', command, { cwd: folder, encoding: 'utf8' }));
  console.log(join(resolve(target), filename));
} finally {
  rmSync(parent, { recursive: true });
}
