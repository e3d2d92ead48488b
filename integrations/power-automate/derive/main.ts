// Derives the connector from the daemon's OpenAPI document: `npm run derive`. With `--host NAME` it writes one for a
// single daemon instead, into the folder `--out` (default: the present one). Logic Apps needs that: it has no policies.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { deriveFiles, readDocument } from './files.ts';

const { values } = parseArgs({ options: { host: { type: 'string' }, out: { type: 'string' } } });
const here = fileURLToPath(new URL('..', import.meta.url));
const folder = values.host === undefined ? here : resolve(values.out ?? '.');
const { host } = values;
if (host !== undefined && !/^[^{}/ :\\]+(:\d+)?$/.test(host)) {
  console.error(
    `--host ${host} is no host: give its name alone, such as filings.example.com, without https://.`,
  );
  process.exit(64);
}
const files = await deriveFiles(
  await readDocument(),
  host === undefined ? { kind: 'each connection' } : { kind: 'host', host },
);
mkdirSync(folder, { recursive: true });
for (const [name, text] of Object.entries(files)) {
  writeFileSync(join(folder, name), text);
  console.log(join(folder, name));
}
