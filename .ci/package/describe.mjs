// Writes into a folder of release artifacts what describes them: the lists of parts (CycloneDX) of the package and of the image, the provenance
// (an in-toto statement with SLSA 1.0 predicate) and SHA256SUMS. Arguments: the folder, and optionally NAME=sha256:… of an image. The commit, and
// the time of the commit in place of the clock's, are read from git: the same commit gives the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const [, , folder, ...images] = process.argv;
const repository = process.env.RELEASE_REPOSITORY || null;
const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim();
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
const tarballs = readdirSync(folder)
  .filter((name) => name.endsWith('.tgz'))
  .toSorted();
// For Python and Kubernetes; they have no parts.
const others = readdirSync(folder)
  .filter((name) => /\.(?:whl|tar\.gz)$/.test(name))
  .toSorted();
const commit = git('rev-parse', 'HEAD');
const committed = new Date(git('log', '-1', '--format=%cI')).toISOString();

for (const tarball of tarballs) {
  const { name, bundleDependencies: bundled = [] } = manifestIn(tarball);
  refuseLacking(tarball);
  const target = folderOf(name);
  const file = tarball.replace(/\.tgz$/, '');
  write(`${file}.cdx.json`, partsOf(target, bundled));
  if (target === '.') write(`${file}-image.cdx.json`, partsOf(target));
}
write('provenance.intoto.json', `${JSON.stringify(provenance(), null, 2)}\n`);
const described = readdirSync(folder)
  .filter((name) => name !== 'SHA256SUMS')
  .toSorted();
write('SHA256SUMS', described.map((name) => `${digestOf(name)}  ${name}\n`).join(''));

function write(name, text) {
  writeFileSync(join(folder, name), text);
}

function digestOf(name) {
  return sha256(readFileSync(join(folder, name)));
}

/** The folder of the package of a name in this repository. */
function folderOf(name) {
  const manifests = git('ls-files', 'package.json', 'integrations/*/package.json').split('\n');
  const found = manifests.find((path) => JSON.parse(readFileSync(join(root, path), 'utf8')).name === name);
  if (found === undefined) throw new Error(`${name} is no package here`);
  return dirname(found);
}

/** The list of parts of a package, with the packages that it bundles. */
function partsOf(target, bundled = []) {
  return execFileSync(process.execPath, ['.ci/list-parts.mjs', target, ...bundled], {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, SBOM_TIME: committed },
    maxBuffer: 64 * 1024 * 1024,
  });
}

function manifestIn(tarball) {
  return JSON.parse(
    execFileSync('tar', ['-xzOf', join(folder, tarball), 'package/package.json'], { encoding: 'utf8' }),
  );
}

/** A package whose own build did not run names files that are not there. */
function refuseLacking(tarball) {
  const { main, types, bin = {}, exports = {}, n8n = {} } = manifestIn(tarball);
  const named = [main, types, ...textsIn(bin), ...textsIn(exports), ...textsIn(n8n)].filter((text) =>
    /^[\w.@/-]+\.\w+$/.test(text),
  );
  const content = execFileSync('tar', ['-tzf', join(folder, tarball)], { encoding: 'utf8' }).split('\n');
  const lacking = named.filter((path) => !content.includes(join('package', path)));
  if (lacking.length > 0) throw new Error(`${tarball} names ${lacking.join(', ')}, which it does not hold`);
}

function textsIn(value) {
  if (typeof value === 'string') return [value];
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(textsIn) : [];
}

/** https://slsa.dev/spec/v1.0/provenance, in a statement of https://in-toto.io/Statement/v1. It is not signed. */
function provenance() {
  const locks = git('ls-files', 'package-lock.json', '*/package-lock.json').split('\n');
  return {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [
      ...[...tarballs, ...others].map((name) => ({ name, digest: { sha256: digestOf(name) } })),
      ...images.map((image) => {
        const [, name, digest] = /^(.+)=sha256:([0-9a-f]{64})$/.exec(image) ?? [];
        if (digest === undefined) throw new Error(`${image} is not NAME=sha256:DIGEST of an image`);
        return { name, digest: { sha256: digest } };
      }),
    ],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:filing-webhooks:release:v1',
        externalParameters: { command: '.ci/release', ref: commit, ...(repository && { repository }) },
        internalParameters: { node: process.version },
        resolvedDependencies: [
          { ...(repository && { uri: repository }), name: 'sources', digest: { gitCommit: commit } },
          ...locks.map((path) => ({
            name: path,
            digest: { sha256: sha256(readFileSync(join(root, path))) },
          })),
        ],
      },
      runDetails: {
        builder: { id: process.env.RELEASE_BUILDER || 'urn:filing-webhooks:builder:by-hand' },
      },
    },
  };
}
