import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alarms } from './alarms.ts';
import { guards } from './guards.ts';
import { commandOf, mutations, type Mutation } from './mutations.ts';

// Applies each seeded bug to a copy of the tree and runs the test that is to notice it; says which command
// runs that test. Exit code 1 if one of them does not notice. `npm run test:mutations -- cursor` runs those with `cursor` in their name.

const root = fileURLToPath(new URL('../../..', import.meta.url));
const notCopied = new Set(['node_modules', '.git', 'coverage']);

/** What vitest's JSON reporter says, as far as it is read here. */
interface Report {
  readonly testResults: readonly {
    readonly message: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

async function copyTree(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-mutation-'));
  await cp(root, folder, {
    recursive: true,
    filter: (path) => !notCopied.has(relative(root, path).split(sep)[0] ?? ''),
  });
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

async function apply(folder: string, { file, find, replace, name }: Mutation): Promise<void> {
  const path = join(folder, file);
  const text = await readFile(path, 'utf8');
  if (text.split(find).length !== 2) throw new Error(`"${name}" does not find its place in ${file}`);
  await writeFile(
    path,
    text.replace(find, () => replace),
  );
}

async function failedTests(folder: string, { name, project, test, title }: Mutation): Promise<string[]> {
  const output = join(folder, 'report.json');
  // The long files are of two projects.
  const projects = project === 'long' ? 'long*' : project;
  const args = ['run', '--project', projects, test, '--reporter', 'json', '--outputFile', output];
  const pattern = title === '' ? [] : ['-t', title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)];
  const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args, ...pattern], {
    cwd: folder,
    stdio: 'ignore',
  });
  await once(child, 'exit');
  const { testResults } = JSON.parse(await readFile(output, 'utf8')) as Report;
  if (testResults.length === 0) throw new Error(`"${name}" does not find its test ${test}`);
  return testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
}

async function isCaught(mutation: Mutation): Promise<boolean> {
  const folder = await copyTree();
  try {
    await apply(folder, mutation);
    const [first, ...others] = await failedTests(folder, mutation);
    const noticed =
      first === undefined ? 'NOT NOTICED' : `${first}${others.length > 0 ? ` (+${others.length})` : ''}`;
    process.stdout.write(`${mutation.name}\n  ${commandOf(mutation)}, ${mutation.test}: ${noticed}\n`);
    return first !== undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const wanted = process.argv[2] ?? '';
const chosen = [...mutations, ...guards, ...alarms].filter(({ name }) => name.includes(wanted));
let caught = 0;
for (const mutation of chosen) if (await isCaught(mutation)) caught += 1;
process.stdout.write(`${caught} of ${chosen.length} seeded bugs noticed\n`);
process.exitCode = caught === chosen.length ? 0 : 1;
