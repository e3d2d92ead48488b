import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createAsset, mediaType } from '../http/asset.ts';
import type { Asset } from '../http/asset.ts';
import * as catalogue from './catalogue.ts';

interface Library {
  /** Under `/assets/vendor/`. */
  readonly name: string;
  readonly locate: () => string;
  readonly adapt?: (text: string) => string;
}

const folder = new URL('public/', import.meta.url);
const require = createRequire(import.meta.url);

// Browsers cannot resolve bare names without an inline import map.
const libraries: readonly Library[] = [
  { name: 'preact.js', locate: () => require.resolve('preact') },
  {
    name: 'hooks.js',
    locate: () => require.resolve('preact/hooks'),
    adapt: (text) => swap(text, 'from"preact"', 'from"./preact.js"'),
  },
  {
    name: 'htm.js',
    locate: () => require.resolve('htm').replace(/htm\.js$/, 'htm.module.js'),
    adapt: (text) => swap(text, 'export default function', 'export const htm=function'),
  },
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
  const vendor = libraries.map(async ({ name, locate, adapt }) => {
    const text = await readFile(locate(), 'utf8');
    return asset(`/assets/vendor/${name}`, withoutSourceMap(adapt?.(text) ?? text));
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

function swap(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2)
    throw new Error(`a library of the dashboard has changed: no single ${from}`);
  return text.replace(from, () => to);
}
