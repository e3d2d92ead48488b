import { readdir, readFile } from 'node:fs/promises';
import { createAsset, mediaType } from '../http/asset.ts';
import type { Asset } from '../http/asset.ts';
import * as catalogue from './catalogue.ts';

interface Library {
  /** Under `/assets/vendor/`. */
  readonly name: string;
  /** As Node imports it. */
  readonly module: string;
  /** What is replaced in its text: browsers cannot resolve bare names without an inline import map. */
  readonly swap?: readonly [from: string, to: string];
}

const folder = new URL('public/', import.meta.url);

const libraries: readonly Library[] = [
  { name: 'preact.js', module: 'preact' },
  { name: 'hooks.js', module: 'preact/hooks', swap: ['from"preact"', 'from"./preact.js"'] },
  { name: 'htm.js', module: 'htm', swap: ['export default function', 'export const htm=function'] },
];

/**
 * Everything that the page consists of: itself at `/`, its own files under `/assets/` (those for the compiler
 * left out), the catalogue of event types and statuses as a module, and the libraries from node_modules.
 * Rejects if a library is missing or its text has changed.
 */
export async function readPageFiles(): Promise<Asset[]> {
  const own = (await readdir(folder, { recursive: true })).map(async (name) => {
    const path = name === 'index.html' ? '/' : `/assets/${name}`;
    return mediaType(name) === null ? [] : [asset(path, await readFile(new URL(name, folder), 'utf8'))];
  });
  const vendor = libraries.map(async (library) => {
    const text = await readFile(new URL(import.meta.resolve(library.module)), 'utf8');
    return asset(`/assets/vendor/${library.name}`, withoutSourceMap(adapted(text, library)));
  });
  const words = Object.entries(catalogue).map(
    ([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`,
  );
  const files = await Promise.all([...own, ...vendor]);
  return [...files.flat(), asset('/assets/catalogue.js', words.join(''))];
}

function asset(path: string, text: string): Asset {
  return createAsset(path, mediaType(path === '/' ? 'index.html' : path) ?? '', text);
}

function withoutSourceMap(text: string): string {
  return text.replace(/\n\/\/# sourceMappingURL=\S*\s*$/, '\n');
}

function adapted(text: string, { swap }: Library): string {
  if (swap === undefined) return text;
  if (text.split(swap[0]).length !== 2)
    throw new Error(`a library of the dashboard has changed: no single ${swap[0]}`);
  return text.replace(swap[0], () => swap[1]);
}
