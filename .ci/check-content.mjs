// Says what an image holds that it should not. Arguments: a file with `tar -tv --numeric-owner` of the image, and one with its history and
// environment. Every package that is delivered has to be there, by the lock file, no other; nothing below /app may be changed by the user node.
import { readFileSync } from 'node:fs';

const [, , contentFile, historyFile] = process.argv;
const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));

const files = readFileSync(contentFile, 'utf8')
  .split('\n')
  .flatMap((line) => {
    // -rw-r--r-- 0/0  1234 2026-11-21 10:00 app/package.json
    const [, mode, owner, path] =
      /^(\S+) (\S+) +[\d,]+ \S+ \S+ (.*?)(?: (?:->|link to) .*)?$/.exec(line) ?? [];
    return path === undefined ? [] : [{ mode, owner, path: path.replace(/\/$/, '') }];
  });
const ours = files.filter(({ path }) => path.startsWith('app/'));
const wrong = [];
const refuse = (list, why) => wrong.push(...list.slice(0, 5).map((path) => `${path}: ${why}`));

const top = new Set(ours.map(({ path }) => path.split('/')[1]));
refuse(
  [...top].filter((name) => !['docs', 'node_modules', 'package.json', 'src'].includes(name)),
  'not in /app of the image',
);
refuse(
  ours.map(({ path }) => path).filter((path) => /^app\/docs\/(?!problems\.md$)/.test(path)),
  'not what the daemon serves of docs',
);
refuse(
  ours
    .filter(({ mode, owner }) => !owner.startsWith('0/') || (!mode.startsWith('l') && mode[8] === 'w'))
    .map(({ path }) => path),
  'may be changed by others than root',
);
refuse(
  files
    .map(({ path }) => path)
    .filter(
      (path) =>
        /(?:^|\/)(?:\.git|\.env[^/]*|\.npm|id_[a-z0-9]+|\.npmrc|\.docker)$/.test(path) &&
        !path.startsWith('usr/local/lib/'),
    ),
  'a secret, a cache or a repository',
);
refuse(
  ours
    .map(({ path }) => path)
    .filter((path) => !path.includes('/node_modules/') && /\.test\.ts$|(?:^|\/)test\//.test(path)),
  'a test',
);

const isDelivered = ({ dev, optional, devOptional }) => !dev && !optional && !devOptional;
const expected = Object.entries(lock.packages).flatMap(([path, entry]) =>
  path !== '' && isDelivered(entry) ? [path] : [],
);
const installed = ours.flatMap(
  ({ path }) =>
    /^app\/((?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/@.][^/]*)\/package\.json$/.exec(path)?.[1] ?? [],
);
refuse(
  installed.filter((path) => lock.packages[path] !== undefined && !expected.includes(path)),
  'is not delivered, by the lock',
);
refuse(
  installed.filter((path) => lock.packages[path] === undefined),
  'is not in the lock',
);
refuse(
  expected.filter((path) => !installed.includes(path)),
  'is missing',
);

const secret = /(?:API_TOKEN|ENCRYPTION_KEY|REDIS_PASSWORD|PARTNER_KEY|_authToken|PASSWORD)\s*[=:]/i.exec(
  readFileSync(historyFile, 'utf8'),
);
if (secret !== null) wrong.push(`${secret[0]}: a secret in the history or the environment of the image`);

for (const sentence of wrong) console.error(`image: ${sentence}`);
console.log(
  `image: ${installed.length} packages and ${ours.filter(({ path }) => path.startsWith('app/src/')).length} files of src, the pages of errors, nothing else in /app`,
);
process.exitCode = wrong.length === 0 ? 0 : 1;
