import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import {
  committedFiles,
  fileText,
  packageVersion,
  presentFiles,
  presentSchemas,
  schemasFolder,
} from './schema-files.ts';

/**
 * `npm run schemas`: writes the files in `schemas` as the code has them. With the argument `release` it also
 * makes them the release that later changes are compared with, under the version of the package, and ends the
 * declared breaks.
 */
const files = await presentFiles();
for (const path of committedFiles().keys()) if (!files.has(path)) rmSync(new URL(path, schemasFolder));
mkdirSync(new URL('events', schemasFolder), { recursive: true });
for (const [path, text] of files) writeFileSync(new URL(path, schemasFolder), text);

if (process.argv[2] === 'release') {
  const version = packageVersion();
  for (const path of globSync('released/[0-9]*.json', { cwd: schemasFolder.pathname }))
    rmSync(new URL(path, schemasFolder));
  const path = `released/${version}.json`;
  writeFileSync(new URL(path, schemasFolder), await fileText(path, { version, events: presentSchemas() }));
  writeFileSync(new URL('released/breaks.json', schemasFolder), '[]\n');
}
