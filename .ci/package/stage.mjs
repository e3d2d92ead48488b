// Makes a folder with the package that is published: the sources as JavaScript, with what lies beside them, and a manifest and a lock of what it
// needs to run (docs/adr/0031-published-as-javascript.md). Arguments: the folder, which must not exist yet, and optionally the address of the repository. Needs `npm ci` done.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [, , target, repository] = process.argv;
if (target === undefined || existsSync(target)) {
  console.error('usage: stage.mjs FOLDER [REPOSITORY], where the folder does not exist yet');
  process.exit(64);
}
const folder = resolve(target);
const readJson = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const manifest = readJson('package.json');
const lock = readJson('package-lock.json');

// What the demo falls back to where there is neither a redis-server nor Docker, a tool of the tests here. It travels inside the package:
// as a dependency its optional peer, an older ioredis, would change which one the daemon gets.
const emulation = ['js-redis-server', 'lua-redis-wasm'];
const peers = ['peerDependencies', 'peerDependenciesMeta'];
// What does not run of it.
const unneeded = /\.map$|\.d\.m?ts$|\.cjs$|\bdist\/(?:core|cli|index)\.js$|\bcore\.mjs$|\bbrowser\.mjs$/;

mkdirSync(folder, { recursive: true });
compile();
copyTheRest();
copyPages();
copyEmulation();
writeJson('package.json', publishedManifest());
writeJson('npm-shrinkwrap.json', publishedLock());
setRights();

function compile() {
  const compiled = join(folder, 'compiled');
  execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', '.ci/package', '--outDir', compiled], {
    cwd: root,
    stdio: 'inherit',
  });
  // As deep as `src`, so that every path from a module to package.json and to its neighbours holds.
  renameSync(join(compiled, 'src'), join(folder, 'dist'));
  rmSync(compiled, { recursive: true });
}

/** Scripts of Redis and the files of the dashboard: everything below src that is not compiled. */
function copyTheRest() {
  for (const path of filesBelow(join(root, 'src')))
    if (isDelivered(path)) copy(join('src', path), join('dist', path));
}

function isDelivered(path) {
  return (
    extname(path) !== '.ts' && path !== join('cli', 'filing-webhooks') && basename(path) !== 'tsconfig.json'
  );
}

/** The same rights whatever those of the checkout and of new files are. */
function setRights() {
  for (const path of filesBelow(folder)) chmodSync(join(folder, path), path.endsWith('.cjs') ? 0o755 : 0o644);
}

function filesBelow(parent) {
  return readdirSync(parent, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(parent, join(entry.parentPath, entry.name)));
}

/** The licence, a README for those who have the package, and the pages that messages name. */
function copyPages() {
  copy('LICENSE', 'LICENSE');
  copy('.ci/package/README.md', 'README.md');
  copy('.env.example', '.env.example');
  const code = filesBelow(join(folder, 'dist'))
    .filter((path) => path.endsWith('.js'))
    .map((path) => readFileSync(join(folder, 'dist', path), 'utf8'));
  const named = new Set(code.flatMap((text) => text.match(/\bdocs\/[\w/-]+\.md\b/g) ?? []));
  for (const page of named) copy(page, page);
}

/** With its licences, without its optional peers: clients of it that are no part of the demo. */
function copyEmulation() {
  for (const name of emulation) {
    const from = join('node_modules', name);
    for (const path of filesBelow(join(root, from)))
      if (!unneeded.test(path)) copy(join(from, path), join(from, path));
    writeJson(join(from, 'package.json'), without(peers, readJson(join(from, 'package.json'))));
  }
}

function copy(from, to) {
  mkdirSync(dirname(join(folder, to)), { recursive: true });
  cpSync(join(root, from), join(folder, to));
}

function publishedManifest() {
  const { name, version, description, license, type, engines, scripts, dependencies } = manifest;
  return {
    name,
    version,
    description,
    keywords: ['webhooks', 'polling', 'surplus-lines', 'insurance', 'standard-webhooks', 'redis'],
    license,
    ...(repository && { repository: { type: 'git', url: repository } }),
    type,
    engines,
    bin: { [name]: 'dist/cli/filing-webhooks.cjs' },
    files: ['dist', 'docs', '.env.example', 'npm-shrinkwrap.json'],
    // `filing-webhooks start` takes the options of Node from here.
    scripts: { start: scripts.start.replace('src/main.ts', 'dist/main.js') },
    dependencies: { ...dependencies, ...emulated() },
    bundleDependencies: emulation,
  };
}

/** The lock of this repository, cut down to what the package needs: npm installs the versions that were tested, by their hashes. */
function publishedLock() {
  const { name, version, license, engines, bin, dependencies, bundleDependencies } = publishedManifest();
  const packages = { '': { name, version, license, bundleDependencies, dependencies, bin, engines } };
  for (const [path, entry] of Object.entries(lock.packages).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    if (isBundled(path)) packages[path] = { ...withoutUse(entry), inBundle: true };
    else if (path !== '' && withoutUse(entry) === entry) packages[path] = entry;
  return { name, version, lockfileVersion: lock.lockfileVersion, requires: true, packages };
}

function isBundled(path) {
  return emulation.some((name) => path === `node_modules/${name}`);
}

/** An entry without the mark of being for development or optional, and without its peers; itself where it has no mark. */
function withoutUse(entry) {
  const marks = ['dev', 'optional', 'devOptional'];
  return marks.some((mark) => entry[mark]) ? without([...marks, ...peers], entry) : entry;
}

function without(fields, object) {
  return Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)));
}

function emulated() {
  return Object.fromEntries(emulation.map((name) => [name, lock.packages[`node_modules/${name}`].version]));
}

function writeJson(path, value) {
  writeFileSync(join(folder, path), `${JSON.stringify(value, null, 2)}\n`);
}
