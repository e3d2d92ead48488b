// Writes src/catalogue.json: what Zapier shows of the product's events, derived from schemas/events. With --check it writes nothing and ends
// with code 1 where the file is out of date.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { format, resolveConfig } from 'prettier';
import { knownStatuses } from '../../../src/partner/filing-statuses.ts';
import type { Catalogue, CatalogueField } from '../src/catalogue.ts';

interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly const?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly examples?: readonly unknown[];
}

const schemas = new URL('../../../schemas/events/', import.meta.url);
const target = new URL('../src/catalogue.json', import.meta.url);

// In no log, and sent only to a subscription that asks for them in another way.
const notOffered = new Set(['ping', 'filing.snapshot']);
// Only in filing.snapshot.
const notShown = new Set(['data__details']);
// The filing's id is the first field that a user looks for.
const first = ['id', 'type', 'timestamp', 'data__account', 'data__filingId'];

/** The fields of an event, by the names under which Zapier flattens it. */
function fieldsOf(schema: Schema, key: string): [string, CatalogueField][] {
  if (notShown.has(key)) return [];
  const types = [schema.type ?? []].flat().filter((type) => type !== 'null');
  const [example] = schema.examples ?? [];
  const parts = schema.properties ?? (isObject(example) ? propertiesOf(example) : null);
  if (parts !== null)
    return Object.entries(parts).flatMap(([name, part]) =>
      fieldsOf(part, key === '' ? name : `${key}__${name}`),
    );
  if (types.includes('object')) return [];
  const type = types.length === 1 ? zapierType(String(types[0]), schema.format) : null;
  return [
    [
      key,
      { label: labelOf(key), ...(type !== null && { type }), ...(types.includes('array') && { list: true }) },
    ],
  ];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function propertiesOf(example: Record<string, unknown>): Record<string, Schema> {
  return Object.fromEntries(Object.keys(example).map((name) => [name, {}]));
}

function zapierType(type: string, formatOf: string | undefined): NonNullable<CatalogueField['type']> | null {
  if (type === 'string') return formatOf === 'date-time' ? 'datetime' : 'string';
  if (type === 'number' || type === 'integer' || type === 'boolean') return type;
  return null;
}

/** `data__filing__filingState__stateAbbr` is "Filing: Filing State Abbreviation" to the user. */
function labelOf(key: string): string {
  const path = key.split('__').filter((name, i) => i > 0 || name !== 'data');
  const words = (name: string) =>
    name
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .replace(/^./, (letter) => letter.toUpperCase())
      .replace(/\bId\b/g, 'ID')
      .replace(/\bUrl\b/g, 'URL')
      .replace(/\bAbbr\b/g, 'Abbreviation')
      .replace(/^(Insureds|Carriers)\b/, (name) => name.replace(/s$/, "'s"));
  return path.map(words).join(': ');
}

function read(): Catalogue {
  const fields: Record<string, CatalogueField> = { id: { label: 'Event ID', type: 'string' } };
  const types = readdirSync(schemas)
    .toSorted()
    .map((file) => JSON.parse(readFileSync(new URL(file, schemas), 'utf8')) as Schema)
    .filter((schema) => !notOffered.has(schema.properties?.['type']?.const ?? 'ping'))
    .map((schema, i) => {
      const own = fieldsOf(schema, '').filter(([key]) => key !== 'id');
      for (const [key, field] of own) {
        if (fields[key] !== undefined && !isDeepStrictEqual(fields[key], field))
          throw new Error(`${key} differs between event types: give it one field`);
        fields[key] = field;
      }
      const keys = ['id', ...own.map(([key]) => key)];
      const place = (key: string) => (first.includes(key) ? first.indexOf(key) : first.length);
      return {
        type: schema.properties?.['type']?.const ?? '',
        description: schema.description ?? '',
        fields: keys.toSorted((a, b) => place(a) - place(b)),
        sample: {
          ...(schema.examples?.[0] as { type: string }),
          id: `evt_${(i + 1).toString(16).padStart(32, '0')}`,
        },
      };
    });
  return { statuses: knownStatuses, types, fields };
}

const catalogue = read();
if (process.argv.includes('--check')) {
  if (!isDeepStrictEqual(JSON.parse(readFileSync(target, 'utf8')), catalogue)) {
    console.error('src/catalogue.json is not as schemas/events has it: run npm run derive');
    process.exitCode = 1;
  }
} else {
  const options = { ...(await resolveConfig(target)), parser: 'json' };
  writeFileSync(target, await format(JSON.stringify(catalogue), options));
}
