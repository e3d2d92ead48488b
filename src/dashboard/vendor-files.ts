import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createAsset, mediaType } from '../http/asset.ts';
import type { Asset } from '../http/asset.ts';

interface Source {
  /** Under `/assets/vendor/`. */
  readonly name: string;
  readonly locate: () => string;
  readonly adapt: (text: string) => string;
}

const require = createRequire(import.meta.url);

// Browsers cannot resolve bare names without an inline import map, and uPlot's small build is no module.
const sources: readonly Source[] = [
  { name: 'preact.js', locate: () => require.resolve('preact'), adapt: (text) => text },
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
  {
    name: 'uplot.js',
    locate: () => require.resolve('uplot/dist/uPlot.iife.min.js'),
    adapt: (text) => `${text}\nexport{uPlot};\n`,
  },
  { name: 'uplot.css', locate: () => require.resolve('uplot/dist/uPlot.min.css'), adapt: (text) => text },
];

/**
 * Every library that the page uses, from node_modules. Rejects if one is missing or its text has changed.
 */
export function readVendorFiles(): Promise<Asset[]> {
  return Promise.all(
    sources.map(async ({ name, locate, adapt }) => {
      const text = adapt(await readFile(locate(), 'utf8')).replace(/\n\/\/# sourceMappingURL=\S*\s*$/, '\n');
      return createAsset(`/assets/vendor/${name}`, mediaType(name) ?? '', text);
    }),
  );
}

function swap(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2)
    throw new Error(`a library of the dashboard has changed: no single ${from}`);
  return text.replace(from, () => to);
}
