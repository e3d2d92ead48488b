import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const cwd = join(import.meta.dirname, '../../../deploy/prometheus');
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

test.skipIf(!hasPromtool)(
  'the alert rules fire when they should, and only then (skipped without promtool)',
  async () => {
    const checked = await run('promtool', ['check', 'rules', 'filing-webhooks.rules.yml'], { cwd });
    expect(checked.stdout).toContain('SUCCESS');
    const tested = await run('promtool', ['test', 'rules', 'filing-webhooks.test.yml'], { cwd });
    expect(tested.stdout).toContain('SUCCESS');
  },
);
