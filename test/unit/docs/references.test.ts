import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, readText, root } from './documents.ts';

const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'CHANGELOG.md',
  ...filesBelow('docs').filter((path) => path.endsWith('.md')),
];

describe.each(documents)('%s', (path) => {
  const text = readText(path);
  const prose = text.replaceAll(/^```.*?^```$/gms, '');

  it('names only files and folders that exist', () => {
    expect(text).toMatch(/^# ./);
    const named = [...prose.matchAll(/`((?:src|test|docs|deploy)\/[\w./-]+)`/g)].map(([, name = '']) => name);
    expect(named.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });

  it('is at most 120 characters wide, tables 160', () => {
    const wide = prose.split('\n').filter((line) => line.length > (line.startsWith('|') ? 160 : 120));
    expect(wide).toEqual([]);
  });

  it('links only to files and headings that exist', () => {
    const links = [...prose.matchAll(/\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g)];
    const broken = links.filter(([, file = '', anchor]) => {
      const target = file === '' ? path : normalize(join(dirname(path), file));
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(readText(target)).has(anchor);
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

it('comments of src and test, and alerts, name only pages and headings of docs that exist', () => {
  const sources = [...filesBelow('src'), ...filesBelow('test'), ...filesBelow('deploy')].filter((path) =>
    /\.(?:ts|js|lua|rules\.yml)$/.test(path),
  );
  const broken = sources.flatMap((path) =>
    [...readText(path).matchAll(/\bdocs\/([\w/-]+\.md)(?:#([\w-]+))?/g)]
      .filter(([, page = '', anchor]) => !hasHeading(`docs/${page}`, anchor))
      .map(([reference]) => `${path}: ${reference}`),
  );
  expect(broken).toEqual([]);
});

it('docs/architecture.md leads from poll to callback in at most 14 steps and 60 files', () => {
  const path = /\n## One change.*?\n## /s.exec(readText('docs/architecture.md'))?.[0] ?? '';
  const steps = path.match(/^\d+\. /gm) ?? [];
  const files = new Set(path.match(/`src\/[\w./-]+\.\w+`/g));
  expect([steps.length > 5, steps.length <= 14, files.size > 20, files.size <= 60]).toEqual([
    true,
    true,
    true,
    true,
  ]);
});

describe('docs/architecture/folders.md', () => {
  const items = readText('docs/architecture/folders.md').split(/^- /m).slice(1);
  const folders = new Set(filesBelow('src').map((path) => dirname(path)));
  const top = [...folders].filter((path) => /^src\/[^/]+$/.test(path)).toSorted(byText);

  it('has one item for every folder of src', () => {
    const listed = items.flatMap((item) => [...namedFirst(item).matchAll(/`(src\/[\w-]+)`/g)]);
    expect(listed.map(([, folder = '']) => folder).toSorted(byText)).toEqual(top);
  });

  it.each(top)('names the folders in %s', (folder) => {
    const item = items.find((text) => namedFirst(text).includes(`\`${folder}\``)) ?? '';
    const below = [...folders].flatMap((path) =>
      path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1).split('/')[0] ?? ''] : [],
    );
    expect(below.filter((name) => !item.includes(`\`${name}/\``))).toEqual([]);
  });
});

describe('docs/threat-model.md', () => {
  it('names a guard for every threat, and proofs that are tests', () => {
    const items = readText('docs/threat-model.md')
      .split(/^## \d/m)
      .slice(1)
      .flatMap((section) => section.split(/\n## |\n\n(?!- )/))
      .flatMap((list) => list.split(/^- /m).slice(1));
    const wrong = items.filter((item) => {
      const [guard = '', proof = ''] = item.split('→');
      const proofs = [...proof.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      return (
        !/`src\/|`\.ci\/|webhooks\.md|package\.json/.test(guard) ||
        proofs.length === 0 ||
        !proofs.every((name) => /^test\/.*\.test\.ts$/.test(name))
      );
    });
    expect(items.length).toBeGreaterThan(30);
    expect(wrong).toEqual([]);
  });
});

/** The folders that an item of the list is about. */
function namedFirst(item: string): string {
  return item.split(':', 1)[0] ?? '';
}

function hasHeading(page: string, anchor: string | undefined): boolean {
  if (!existsSync(join(root, page))) return false;
  return anchor === undefined || anchorsOf(readText(page)).has(anchor);
}

/** The anchors that GitHub gives to the headings of a document. */
function anchorsOf(markdown: string): Set<string> {
  const headings = [...markdown.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}
