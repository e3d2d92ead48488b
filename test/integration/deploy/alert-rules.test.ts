import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { skipIfFails } from '../../support/skip-without.ts';

const run = promisify(execFile);
const cwd = join(import.meta.dirname, '../../../deploy/prometheus');
const noPromtool = skipIfFails('promtool', '--version');

test.skipIf(noPromtool)(
  'the alert rules fire when they should, and only then (skipped without promtool)',
  async () => {
    const checked = await run('promtool', ['check', 'rules', 'filing-webhooks.rules.yml'], { cwd });
    expect(checked.stdout).toContain('SUCCESS');
    const tested = await run('promtool', ['test', 'rules', 'filing-webhooks.test.yml'], { cwd });
    expect(tested.stdout).toContain('SUCCESS');
  },
);

test.skipIf(noPromtool)(
  'Prometheus understands every query of the dashboard (skipped without promtool)',
  async () => {
    const file = join(cwd, '../grafana/filing-webhooks.json');
    const { panels } = JSON.parse(await readFile(file, 'utf8')) as {
      panels: { targets: { expr: string }[] }[];
    };
    const queries = panels.flatMap(({ targets }) => targets.map(({ expr }) => asGrafanaSends(expr)));
    const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-queries-'));
    try {
      const rules = queries.map((expr, i) => ({ record: `query_${i}`, expr }));
      // JSON is YAML.
      await writeFile(join(folder, 'queries.yml'), JSON.stringify({ groups: [{ name: 'queries', rules }] }));
      const checked = await run('promtool', ['check', 'rules', join(folder, 'queries.yml')]);
      expect(checked.stdout).toContain(`SUCCESS: ${queries.length} rules found`);
    } finally {
      await rm(folder, { recursive: true });
    }
  },
);

function asGrafanaSends(query: string): string {
  return query
    .replaceAll('$__rate_interval', '1m')
    .replaceAll('$__interval', '1m')
    .replaceAll('$account', '.*');
}
