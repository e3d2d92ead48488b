// Prints what goes into the image, with versions, hashes and licences, as a CycloneDX list. `npm sbom --omit=dev` leaves out what is needed in development as
// well, ioredis and undici among it, so the list of everything is cut down to what the lock file says is delivered.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const isDelivered = ({ dev, optional, devOptional }) => !dev && !optional && !devOptional;
const delivered = new Set(
  Object.entries(lock.packages)
    .filter(([path, entry]) => path !== '' && isDelivered(entry))
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`),
);

const command = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
const list = JSON.parse(execFileSync('npm', command, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }));
const root = list.metadata.component['bom-ref'];
list.components = list.components.filter((part) => delivered.has(`${part.name}@${part.version}`));
const listed = new Set([root, ...list.components.map((part) => part['bom-ref'])]);
list.dependencies = list.dependencies
  .filter(({ ref }) => listed.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => listed.has(other)) }));
process.stdout.write(`${JSON.stringify(list, null, 2)}\n`);
