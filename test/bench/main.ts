import { readdir } from 'node:fs/promises';

/**
 * `npm run bench` runs every benchmark of this folder, `npm run bench -- NAME…` those named. Each prints its
 * figures.
 */
interface Benchmark {
  run(): Promise<void>;
}

const here = new URL('.', import.meta.url);
const files = await readdir(here, { withFileTypes: true });
const known = files
  .filter((file) => file.isFile() && file.name.endsWith('.ts') && file.name !== 'main.ts')
  .map(({ name }) => name.slice(0, -'.ts'.length))
  .toSorted((a, b) => (a < b ? -1 : 1));

// What begins with dashes is for the benchmarks themselves.
const asked = process.argv.slice(2).filter((name) => !name.startsWith('--'));
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  process.stderr.write(`unknown: ${unknown.join(', ')}; there are ${known.join(', ')}\n`);
  process.exit(1);
}
for (const name of asked.length > 0 ? asked : known) {
  process.stdout.write(`\n${name}\n`);
  // One after the other: they would disturb each other.
  const benchmark = (await import(new URL(`${name}.ts`, here).href)) as Benchmark;
  await benchmark.run();
}
