import { readdir, readFile } from 'node:fs/promises';
import { createAsset, mediaType } from '../http/asset.ts';
import type { Asset } from '../http/asset.ts';

const folder = new URL('public/', import.meta.url);

/**
 * The page itself at `/` and its own files under `/assets/`. Files for the compiler are left out.
 */
export async function readPageFiles(): Promise<Asset[]> {
  const assets = (await readdir(folder, { recursive: true })).map(async (name) => {
    const type = mediaType(name);
    const path = name === 'index.html' ? '/' : `/assets/${name}`;
    return type === null ? [] : [createAsset(path, type, await readFile(new URL(name, folder), 'utf8'))];
  });
  return (await Promise.all(assets)).flat();
}
