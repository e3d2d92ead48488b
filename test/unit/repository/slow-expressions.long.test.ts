import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkSync } from 'recheck';
import { expect, it } from 'vitest';
import { typesPattern } from '../../../src/api/shared/patterns.ts';
import { filesBelow, readText, root } from '../docs/documents.ts';
import { expressionsOf, type Expression } from './expressions.ts';

// The native checker is an optional dependency; its own choice would go on to Java, which may be there.
process.env['RECHECK_BACKEND'] ??= hasNativeChecker() ? 'native' : 'pure';

const paths = filesBelow('src').filter((path) => /(?<!\.d)\.[jt]s$/.test(path));
const { found, unknown } = expressionsOf(new Map(paths.map((path) => [path, readText(path)])));

// The expressions that are put together of other texts, by the file that uses them.
const madeFromTexts = new Map([['src/api/events/events.ts', typesPattern]]);

it('no expression in src backtracks more than in proportion to its input', { timeout: 300_000 }, () => {
  expect(paths).toContain('src/dashboard/public/html.js');
  expect(found.length).toBeGreaterThan(100);
  const made = unknown.map((place) => place.split(':')[0] ?? '');
  expect(made, 'made when the code runs: not checked').toEqual([...madeFromTexts.keys()]);
  const fromTexts = [...madeFromTexts].map(([path, source]) => ({ path, line: 0, source, flags: 'u' }));
  const slow = [...found, ...fromTexts].flatMap((expression) => {
    const attack = attackOn(expression);
    return attack === null ? [] : [{ expression, attack }];
  });
  expect(slow.map(({ expression, attack }) => `${placeOf(expression)} by ${attack}`)).toEqual([]);
});

it('the expression that once read Accept-Encoding is found slow, wherever it stands', () => {
  const source = String.raw`^\s*gzip\s*(;\s*q=(1|0\.\d*[1-9])\S*\s*)?$`;
  const texts = [
    `export const a = (b: string) => /* /no/ */ b.replace(/[/]x/, '/no/') || /${source}/i.test(b);`,
    `const again = String.raw\`${source}\`; const a = new RegExp('${source.replaceAll('\\', '\\\\')}', 'i');`,
    `const a = { pattern: '${source.replaceAll('\\', '\\\\')}' };`,
    `const twice = '${source.replaceAll('\\', '\\\\')}'; const a = (b: string) => b.match(twice);`,
  ];
  for (const text of texts) {
    const each = expressionsOf(new Map([['a.ts', text]]));
    const slow = each.found.filter((expression) => attackOn(expression) !== null);
    expect(slow.map((expression) => expression.source)).toEqual([source]);
    expect(placeOf(slow[0] as Expression)).toMatch(/^a\.ts:1 /);
  }
  expect(expressionsOf(new Map([['a.ts', '\nconst a = (b: string) => RegExp(b);']])).unknown).toEqual([
    'a.ts:2',
  ]);
});

const verdicts = new Map<string, string | null>();

/** A text that makes the expression slow, as code; null where there is none. */
function attackOn({ source, flags }: Expression): string | null {
  const key = `/${source}/${flags}`;
  const known = verdicts.get(key);
  if (known !== undefined) return known;
  const verdict = checkSync(source, flags, { timeout: 60_000 });
  const text = verdict.status === 'vulnerable' ? verdict.attack.pattern : `(not decided) ${key}`;
  const attack = verdict.status === 'safe' ? null : text;
  verdicts.set(key, attack);
  return attack;
}

function placeOf({ path, line, source, flags }: Expression): string {
  return `${path}:${line} /${source}/${flags}`;
}

function hasNativeChecker(): boolean {
  return readdirSync(join(root, 'node_modules')).some((name) =>
    /^recheck-(?:linux|macos|windows)-/.test(name),
  );
}
