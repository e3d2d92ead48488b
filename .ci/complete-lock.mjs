// Adds to package-lock.json what npm leaves out of it on one machine: optional packages for other platforms that its packages name, and the
// integrity of each entry, as the registry gives it. Run it after a change of dependencies. The exit code is 1 if the registry lacks a package:
// `.ci/without-hash.txt` has to name it then. An argument names another folder, such as integrations/zapier.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const place = process.argv[2] ?? new URL('..', import.meta.url).pathname;
const file = join(place, 'package-lock.json');
const lock = JSON.parse(readFileSync(file, 'utf8'));
const nameOf = (path) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

const systems = /(?<![a-z])(?:win32|darwin|linux|android|freebsd|openharmony)(?![a-z])/;
const processors = /(?<![a-z0-9])(?:arm64|x64|ia32|arm|s390x|ppc64|riscv64|loong64|mips64el)(?![a-z0-9])/;

/** What a package's name says about the machines that it is for, in the fields of the lock. */
function platformOf(name) {
  const [os] = systems.exec(name) ?? [];
  const [cpu] = processors.exec(name) ?? [];
  const libc = os === 'linux' ? (/musl|gnu/.exec(name)?.[0] ?? null) : null;
  return {
    ...(os !== undefined && { os: [os] }),
    ...(cpu !== undefined && { cpu: [cpu] }),
    ...(libc !== null && { libc: [libc === 'gnu' ? 'glibc' : 'musl'] }),
  };
}

/** Whether Node finds a package from a folder of the lock, or from one above it. */
function isFound(name, from) {
  const parts = from === '' ? [] : from.split('/node_modules/');
  const folders = [...parts.map((_, i) => `${parts.slice(0, i + 1).join('/node_modules/')}/`), ''];
  return folders.some((folder) => lock.packages[`${folder}node_modules/${name}`] !== undefined);
}

for (const [path, { dev, optionalDependencies = {} }] of Object.entries(lock.packages))
  for (const [name, wanted] of Object.entries(optionalDependencies)) {
    const platform = platformOf(name);
    if (platform.os === undefined || isFound(name, path)) continue;
    const version = wanted.replace(/^[^\d]*/, '');
    lock.packages[`node_modules/${name}`] = { version, ...(dev && { dev }), optional: true, ...platform };
    console.log(`added ${name} ${version}`);
  }

let lacking = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.integrity !== undefined) continue;
  for (const [field, value] of Object.entries(entry.optional ? platformOf(nameOf(path)) : {}))
    entry[field] ??= value;
  const name = `${entry.name ?? nameOf(path)}@${entry.version}`;
  try {
    const { stdout } = await promisify(execFile)('npm', ['view', name, 'dist.integrity']);
    if (!stdout.startsWith('sha512-')) throw new Error(stdout);
    entry.integrity = stdout.trim();
    console.log(`hashed ${name}`);
  } catch {
    lacking += 1;
    console.log(`the registry gives no integrity of ${name}`);
  }
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.exitCode = lacking === 0 ? 0 : 1;
