import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { alarms } from '../../crash/mutations/alarms.ts';
import { guards } from '../../crash/mutations/guards.ts';
import { commandOf, mutations } from '../../crash/mutations/mutations.ts';
import { readText, root } from './documents.ts';

const all = [...mutations, ...guards, ...alarms];

describe.each(all)('the seeded bug "$name"', ({ file, find, project, test }) => {
  it('finds its place in the sources, once', () => {
    expect(readText(file).split(find)).toHaveLength(2);
  });

  it('has its test', () => {
    expect(existsSync(join(root, test)), test).toBe(true);
    expect(test.endsWith('.long.test.ts')).toBe(project === 'long');
  });
});

describe('docs/guarantees.md', () => {
  it('says which command notices the seeded bugs', () => {
    const paragraph = /^Seeded bugs show [^]*?\n\n/m.exec(readText('docs/guarantees.md'))?.[0] ?? '';
    const long = all.filter((bug) => commandOf(bug) === 'npm run test:long');
    expect(paragraph).toContain(`notices ${all.length - long.length} of ${all.length}`);
  });
});
