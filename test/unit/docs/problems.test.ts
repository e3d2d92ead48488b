import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { problemTexts } from '../../../src/api/operation/problem-pages.ts';
import { problemCodes } from '../../../src/api/shared/problem.ts';

test('docs/problems.md explains every code in the words of its page, and no other', () => {
  const page = readFileSync(new URL('../../../docs/problems.md', import.meta.url), 'utf8');
  const sections = page
    .split('\n## ')
    .slice(1)
    .map((section) => section.trim().split('\n\n'));
  const expected = Object.entries(problemCodes).map(([code, [status, title]]) => [
    code,
    `**${status} · ${title}.** ${problemTexts[code as keyof typeof problemCodes]}`,
  ]);
  expect(sections).toEqual(expected);
});
