// Compiles src to dist: JavaScript with its types. Runs in every Node that the package supports.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
// tsc rewrites the extensions in JavaScript alone; Deno looks for what is named in the types.
for (const name of readdirSync(`${root}dist`, { recursive: true })) {
  if (!name.endsWith('.d.ts')) continue;
  const file = `${root}dist/${name}`;
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replaceAll(/(from '\.{1,2}\/[^']+)\.ts'/g, "$1.js'"));
}
