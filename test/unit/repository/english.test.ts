import { extname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, readText } from '../docs/documents.ts';

// CONTRIBUTING.md, "How this code is written", has the rule that these words break.
const banned: readonly [word: RegExp, instead: string][] = [
  [/\bso many\b/i, 'a number, or "up to"'],
  [/\bwhoever\b/i, 'the role: the operator, the receiver, a client'],
  [/\b(?:some|no)body\b/i, 'the role, or "no process"'],
  [/\b(?:told|tells|telling)\b/i, 'report, notify, show, append an event'],
  [/\bas ever\b/i, 'unchanged, or nothing'],
  [/(?:^|[.:;!?] )(?:What (?!is\b|are\b)|Those (?:that|who|which)\b|Who )/, 'the subject first'],
  [/\bwhat (?:it|this|that) comes to\b/i, 'its outcome, its sum'],
  [/\(contract\b|\bof the contract\b|\bspecification\b/i, 'a link to a page of docs'],
];

// Folders that oxlint.config.ts declares pure: no comment in them has to say so.
const pureFolders = [
  ...readText('oxlint.config.ts').matchAll(/^ *'?([\w/-]+)'?: \{[^{}]*\bpure: true/gm),
].map(([, folder = '']) => `src/${folder}`);

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...filesBelow('docs').filter((path) => path.endsWith('.md')),
];

const sources = filesBelow('src').filter((path) => ['.ts', '.js', '.lua'].includes(extname(path)));

const { printWidth } = JSON.parse(readText('.prettierrc.json')) as { printWidth: number };

describe('the English of', () => {
  it.each(documents)('%s', (path) => {
    expect(findings(paragraphsOf(readText(path)))).toEqual([]);
  });

  it('the comments in pure folders', () => {
    expect(pureFolders).toContain('src/waiting');
    const tagged = sources.filter(
      (path) =>
        pureFolders.some((folder) => path.startsWith(`${folder}/`)) &&
        commentsOf(readText(path)).some((text) => /; pure\b/i.test(text)),
    );
    expect(tagged).toEqual([]);
  });

  it('the comments in src', () => {
    const found = sources.flatMap((path) =>
      findings(commentsOf(readText(path))).map((finding) => `${path}: ${finding}`),
    );
    expect(sources.length).toBeGreaterThan(0);
    expect(found).toEqual([]);
  });
});

it('comments in src are no wider than code', () => {
  const wide = sources.flatMap((path) =>
    readText(path)
      .split('\n')
      .flatMap((line, i) => (isTooWide(line) ? [`${path}:${i + 1}`] : [])),
  );
  expect(wide).toEqual([]);
});

describe('the search', () => {
  it.each([
    ['/** Whoever asks. */', 1],
    ['/**\n * Up to ten. What\n * it holds is sent.\n */', 1],
    ['  // Told once.', 1],
    ['-- So many entries.', 1],
    ["const text = 'Nobody is told.';", 0],
    ['/** The operator is notified. */', 0],
  ])('finds in %j %i', (source, count) => {
    expect(findings(commentsOf(source))).toHaveLength(count);
  });
});

function findings(texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    banned.flatMap(([word, instead]) => {
      const match = word.exec(text);
      return match === null
        ? []
        : [`"${text.slice(Math.max(0, match.index - 30), match.index + 30)}": ${instead}`];
    }),
  );
}

/** The comments of a source, each on one line without its marks and its code; consecutive line comments are one. */
function commentsOf(source: string): string[] {
  const blocks = [...source.matchAll(/^\s*\/\*\*?([\s\S]*?)\*\//gm)].map(([, text = '']) =>
    text.replaceAll(/\n\s*\*/g, ' '),
  );
  const lines = [...source.matchAll(/^(?:[ \t]*(?:\/\/|--)[^\n]*\n?)+/gm)].map(([text]) =>
    text.replaceAll(/^[ \t]*(?:\/\/|--)/gm, ' '),
  );
  return [...blocks, ...lines].map((text) =>
    text
      .replaceAll(/`[^`]*`/g, '_')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
}

/** The running text of a Markdown page: no code, no headings; quoted names and links' texts left out. */
function paragraphsOf(markdown: string): string[] {
  return markdown
    .replaceAll(/^```.*?^```$/gms, '')
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) |\|)/)
    .filter((text) => !text.startsWith('#'))
    .map((text) => text.replaceAll(/`[^`]*`|"\w+"|!?\[[^\]]*\]\([^)]*\)/g, '_').replaceAll(/\s+/g, ' '))
    .map((text) => text.replace(/^\s*(?:[-*]|\d+\.) /, '').trim());
}

// Tables and addresses cannot be wrapped.
function isTooWide(line: string): boolean {
  return line.length > printWidth && /^\s*(?:\/\/|\/?\*|--)/.test(line) && !/^\s*\*? ?\||https?:/.test(line);
}
