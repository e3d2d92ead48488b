import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { neededCommands } from '../../../src/redis/durability/check-permissions.ts';

const root = new URL('../../../', import.meta.url).pathname;

test.each([
  ['the daemon', 'src/**/*.{lua,ts}', /redis\.p?call\('(\w+)'/g],
  ['the queues', 'node_modules/bullmq/dist/esm/scripts/*.js', /(?:rcall|redis\.call)\(["'](\w+)["']/g],
])('every command that a script of %s calls is among those that its user needs', (_, files, call) => {
  const needed = new Set(neededCommands.map((name) => name.split('|')[0]));
  const called = new Set<string>();
  for (const file of globSync(files, { cwd: root }))
    for (const [, name = ''] of readFileSync(root + file, 'utf8').matchAll(call))
      called.add(name.toLowerCase());
  expect(called.size).toBeGreaterThan(20);
  expect([...called].filter((name) => !needed.has(name))).toEqual([]);
});
