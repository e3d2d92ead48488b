import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problemCodes } from '../../../src/api/shared/problem.ts';

test('docs/problems.md explains every code in one paragraph that begins with its status and title, and no other', () => {
  const page = readFileSync(new URL('../../../docs/problems.md', import.meta.url), 'utf8');
  const sections = page
    .split('\n## ')
    .slice(1)
    .map((section) => section.trim().split('\n\n'));
  const expected = Object.entries(problemCodes).map(([code, [status, title]]) => [
    code,
    expect.stringMatching(new RegExp(`^\\*\\*${status} · ${title}\\.\\*\\* \\S`)),
  ]);
  expect(sections).toEqual(expected);
});
