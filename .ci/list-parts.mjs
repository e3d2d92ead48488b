// Prints what is delivered of a package (without an argument: of the daemon, which is what goes into the image), with versions, hashes and
// licences, as a CycloneDX list. `npm sbom --omit=dev` leaves out what is needed in development as well, ioredis and undici among it, so the list
// of everything is cut down to what the lock file says is delivered. The same lock gives the same list: its number is derived from its content, and
// its time is SBOM_TIME, or left out. A package without a lock file delivers itself alone. Further arguments name packages that it also delivers.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [, , target, ...besides] = process.argv;
const folder = resolve(target ?? fileURLToPath(new URL('..', import.meta.url)));
const readJson = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const manifest = readJson('package.json');
const lock = existsSync(join(folder, 'package-lock.json')) ? readJson('package-lock.json') : { packages: {} };
const isDelivered = ({ dev, optional, devOptional }) => !dev && !optional && !devOptional;
const delivered = new Set(
  Object.entries(lock.packages)
    .filter(
      ([path, entry]) =>
        path !== '' && (isDelivered(entry) || besides.includes(path.replace('node_modules/', ''))),
    )
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`),
);

const command = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx'];
const list = delivered.size === 0 ? listOfItself() : listOfAll();
// npm takes the name of the folder.
Object.assign(list.metadata.component, { name: manifest.name, type: 'application' });
const root = list.metadata.component['bom-ref'];
list.components = list.components.filter((part) => delivered.has(`${part.name}@${part.version}`));
const listed = new Set([root, ...list.components.map((part) => part['bom-ref'])]);
list.dependencies = list.dependencies
  .filter(({ ref }) => listed.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => listed.has(other)) }));
const { SBOM_TIME: time } = process.env;
if (time) list.metadata.timestamp = time;
else delete list.metadata.timestamp;
delete list.serialNumber;
list.serialNumber = `urn:uuid:${uuidOf(JSON.stringify(list))}`;
process.stdout.write(`${JSON.stringify(list, null, 2)}\n`);

function listOfAll() {
  const text = execFileSync('npm', command, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(text);
}

function listOfItself() {
  const { name, version, description, license } = manifest;
  const ref = `${name}@${version}`;
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  const licenses = [{ license: { id: license } }];
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { 'bom-ref': ref, version, description, purl, licenses } },
    components: [],
    dependencies: [{ ref, dependsOn: [] }],
  };
}

/** A UUID of version 8 (RFC 9562) from a content. */
function uuidOf(content) {
  const hex = createHash('sha256').update(content).digest('hex');
  const variant = ((Number.parseInt(hex[16], 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}
