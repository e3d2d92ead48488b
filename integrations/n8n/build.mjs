// Builds dist: JavaScript, the icons, and what n8n's editor knows of the nodes (*.node.json).
import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
rmSync(`${here}dist`, { recursive: true, force: true });
execFileSync('tsc', ['--project', here], { stdio: 'inherit' });
for (const file of globSync(['icons/*.svg', 'nodes/**/*.node.json'], { cwd: here }))
  cpSync(here + file, `${here}dist/${file}`);
