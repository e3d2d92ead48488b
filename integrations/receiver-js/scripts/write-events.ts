// Writes src/events/events.ts from the schemas of the product. With --check it writes nothing, and the exit code is 1 if the file is not
// what it would write.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { printEvents, type EventSchema } from './print-events.ts';

const schemas = fileURLToPath(new URL('../../../schemas/events/', import.meta.url));
const file = fileURLToPath(new URL('../src/events/events.ts', import.meta.url));

const events = readdirSync(schemas)
  .filter((name) => name.endsWith('.json'))
  .toSorted()
  .map((name) => ({
    type: basename(name, '.json'),
    schema: JSON.parse(readFileSync(schemas + name, 'utf8')) as EventSchema,
  }));
const text = await format(printEvents(events), { ...(await resolveConfig(file)), filepath: file });

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (readFileSync(file, 'utf8') !== text) {
  console.error('src/events/events.ts is not what the schemas say: run `npm run derive` and commit it.');
  process.exitCode = 1;
}
