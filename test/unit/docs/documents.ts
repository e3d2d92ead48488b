import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The repository. */
export const root = join(import.meta.dirname, '../../..');

/** A code block of a Markdown text. */
export interface CodeBlock {
  readonly language: string;
  readonly text: string;
}

/** The text of a file, by its path in the repository. */
export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The code blocks of a Markdown text, in their order. */
export function codeBlocks(markdown: string): CodeBlock[] {
  return [...markdown.matchAll(/^```(\w*)[^\n]*\n(.*?)\n```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }));
}

/** Paths in the repository of all files below a folder, in order, without what tools leave behind. */
export function filesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .toSorted();
}
