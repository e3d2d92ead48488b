// Holds package-lock.json, package.json and .npmrc of a folder (default: this repository) to what an installation relies on; prints each
// thing that is wrong and what to do, and exits with 1. A folder without `.ci/without-hash.txt` has no package without a hash, and only one in
// which no package has an install script needs no .npmrc. Runs before `npm ci`, with nothing but Node.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.argv[2] ?? new URL('..', import.meta.url).pathname;
const read = (name) => readFileSync(join(folder, name), 'utf8');
const readIfThere = (name) => (existsSync(join(folder, name)) ? read(name) : '');
const lock = JSON.parse(read('package-lock.json'));
const { allowScripts = {} } = JSON.parse(read('package.json'));
const withoutHash = new Set(readIfThere('.ci/without-hash.txt').match(/^[^#\s]+/gm) ?? []);

const entries = Object.entries(lock.packages).filter(([path]) => path !== '');
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
const list = (value) => [value ?? []].flat();

/** Whether npm installs the package on the platforms of CI and the image: Linux with glibc, x64 or arm64. */
const installedInCi = ({ os, cpu, libc }) =>
  (list(os).includes('linux') || os === undefined) &&
  (list(cpu).some((name) => name === 'x64' || name === 'arm64') || cpu === undefined) &&
  (list(libc).includes('glibc') || libc === undefined);

/** A dependency from elsewhere than the registry: git, an address, a folder, owner/repository. */
const elsewhere =
  /^(?:git|github|gitlab|bitbucket|gist|https?|ssh|file|link|workspace)\b.*:|^[^@\s]+\/[^\s]+$/;

const wrong = [];
const check = (holds, sentence) => void (holds || wrong.push(sentence));

for (const [path, entry] of entries) {
  const name = nameOf(path);
  const hashed = /^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? '');
  if (!withoutHash.has(name))
    check(
      hashed,
      `${path} has no sha512 integrity: run \`node .ci/complete-lock.mjs\` where the registry has it`,
    );
  else if (hashed) wrong.push(`${path} has its integrity: take ${name} out of .ci/without-hash.txt`);
  else
    check(
      entry.optional === true && !installedInCi(entry),
      `${path} is installed on Linux with glibc, or everywhere: .ci/without-hash.txt may not excuse it`,
    );
  check(
    entry.resolved === undefined && entry.link !== true,
    `${path} names where it comes from (${entry.resolved}): only packages of the registry may be used, and the lock names no host`,
  );
  check(
    entry.hasInstallScript !== true || allowScripts[name] !== undefined,
    `${path} has an install script: name it in allowScripts of package.json, with false`,
  );
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies'])
    for (const [dependency, wanted] of Object.entries(entry[kind] ?? {}))
      check(!elsewhere.test(wanted), `${path} wants ${dependency} from ${wanted}, which is not the registry`);
}
const { dependencies, devDependencies, optionalDependencies } = lock.packages[''];
for (const [name, wanted] of Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies }))
  check(/^\d+\.\d+\.\d+$/.test(wanted), `package.json wants ${name} ${wanted}: write out one version`);

const locked = new Set(entries.map(([path]) => nameOf(path)));
const scripted = new Set(
  entries.flatMap(([path, { hasInstallScript }]) => (hasInstallScript ? [nameOf(path)] : [])),
);
for (const name of withoutHash)
  check(locked.has(name), `.ci/without-hash.txt names ${name}, which the lock does not have`);
for (const [name, allowed] of Object.entries(allowScripts)) {
  check(
    allowed === false,
    `package.json allows the install script of ${name}: none is needed, .npmrc turns all off`,
  );
  check(
    scripted.has(name),
    `allowScripts of package.json names ${name}, which has no install script in the lock`,
  );
}
const settings = readIfThere('.npmrc');
if (settings !== '' || scripted.size > 0)
  for (const line of ['ignore-scripts=true', 'omit-lockfile-registry-resolved=true'])
    check(settings.split('\n').includes(line), `.npmrc lacks the line ${line}`);

for (const sentence of wrong) console.log(`lock: ${sentence}`);
if (wrong.length === 0)
  console.log(
    `lock: ${entries.length} packages, ${entries.length - withoutHash.size} by hash, ${withoutHash.size} for other platforms without, no install script`,
  );
process.exitCode = wrong.length === 0 ? 0 : 1;
