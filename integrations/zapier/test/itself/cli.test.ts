import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const cli = ['--yes', '--package', 'zapier-platform-cli@19.1.0', 'zapier-platform'];

it("is built and found sound by Zapier's own command line", async () => {
  const { stdout } = await promisify(execFile)('npx', [...cli, 'validate', '--without-style'], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, CI: 'true' },
  });
  assert.match(stdout, /No structural errors found/);
  assert.match(stdout, /structurally sound/);
});
