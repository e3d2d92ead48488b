import { Validator } from '@seriousme/openapi-schema-validator';
import { Compile } from 'typebox/compile';
import { beforeAll, expect, test } from 'vitest';
import {
  bodiesOf,
  finishDocument,
  sampleOf,
  type ApiDocument,
  type JsonSchema,
} from '../../../../src/api/document/finish-document.ts';
import { toOpenApi30 } from '../../../../src/api/document/finish-document.ts';
import { eventTypes } from '../../../../src/events/event-types.ts';
import { inlined } from '../../../support/api/documented.ts';
import { writeDocument } from '../../../support/api/inert-document.ts';

let document: ApiDocument;

beforeAll(async () => {
  document = await writeDocument();
});

test('every body in JSON has a name and an example that fits its schema', () => {
  const all = bodiesOf(document).filter(({ type }) => type.endsWith('json'));
  expect(all.length).toBeGreaterThan(200);
  for (const {
    name: where,
    media: { schema, example },
  } of all) {
    expect(schema?.$ref, where).toMatch(/^#\/components\/schemas\/\w+$/);
    const check = Compile(inlined(document as never, schema) as never);
    expect({ where, example, errors: check.Errors(example) }).toEqual({ where, example, errors: [] });
  }
});

test('nothing that is sent is closed, and every request is', () => {
  const schemas = document.components?.schemas ?? {};
  const requests = new Set(
    bodiesOf(document)
      .filter(({ isSent }) => !isSent)
      .map(({ media }) => media.schema?.$ref?.split('/').at(-1) ?? ''),
  );
  for (const [name, schema] of Object.entries(schemas)) {
    const isClosed = JSON.stringify(schema).includes('"additionalProperties":false');
    expect({ name, isClosed }).toEqual({ name, isClosed: requests.has(name) });
  }
});

test('an event is one of its types, told apart by the type', () => {
  const { oneOf = [], discriminator } = document.components?.schemas?.['Event'] ?? {};
  const { mapping } = discriminator as { mapping: Record<string, string> };
  expect(Object.keys(mapping)).toEqual(Object.keys(eventTypes));
  expect(oneOf.map(({ $ref }) => $ref)).toEqual(Object.values(mapping));
  for (const [type, $ref] of Object.entries(mapping)) {
    const schema = document.components?.schemas?.[$ref.split('/').at(-1) ?? ''];
    expect(schema?.properties?.['type']).toEqual({ type: 'string', const: type });
  }
});

test.each(['3.1', '3.0'])('the document of OpenAPI %s is valid', async (version) => {
  const written = version === '3.1' ? document : toOpenApi30(document);
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...structuredClone(written) });
  expect({ version: validator.version, valid, errors }).toEqual({ version, valid: true, errors: undefined });
});

test('OpenAPI 3.0 has the callbacks at the operation that subscribes', () => {
  const { paths = {}, webhooks } = toOpenApi30(document) as ApiDocument;
  const subscribe: object = paths['/v1/accounts/{account}/subscriptions']?.['post'] ?? {};
  const { callbacks = {} } = subscribe as { readonly callbacks?: object };
  expect(webhooks).toBeUndefined();
  expect(Object.keys(callbacks)).toEqual(Object.keys(eventTypes));
});

test.each<[object, object]>([
  [{ type: ['string', 'null'] }, { type: 'string', nullable: true }],
  [{ properties: { const: { const: 1 } } }, { properties: { const: { enum: [1] } } }],
  [
    { type: 'string', examples: ['a', 'b'] },
    { type: 'string', example: 'a' },
  ],
  [{ propertyNames: { pattern: '^a' } }, {}],
  [{ type: 'array', uniqueItems: true }, { type: 'array' }],
  [{ example: { type: ['a', 'null'] } }, { example: { type: ['a', 'null'] } }],
])('the schema %j is %j in OpenAPI 3.0', (schema, expected) => {
  const older = toOpenApi30({ components: { schemas: { One: schema as JsonSchema } } }) as ApiDocument;
  expect(older.components?.schemas?.['One']).toEqual(expected);
});

// Generators of clients make types of their own for operations, lists and objects without a name.
const additions = ['Request', 'Response', 'Params', 'Body', 'Result', 'Error', 'Inner', 'Item', 'Value', '1'];

test('no two names of types differ by what a generator adds', () => {
  const operations = Object.values(document.paths ?? {}).flatMap((methods) => Object.values(methods));
  const own = [
    ...Object.keys(document.components?.schemas ?? {}),
    ...operations.map(({ operationId = '' }) => capitalised(operationId)),
  ];
  const made = new Set(
    Object.entries(document.components?.schemas ?? {}).flatMap(([name, schema]) => innerNames(name, schema)),
  );
  const added = own.flatMap((name) => [...additions.map((one) => `${name}${one}`), `New${name}`]);
  expect(own.filter((name, i) => own.indexOf(name) !== i || made.has(name))).toEqual([]);
  expect(added.filter((name) => own.includes(name))).toEqual([]);
});

// The names that openapi-generator gives to the objects inside of a schema.
function innerNames(name: string, { properties = {}, items, additionalProperties }: JsonSchema): string[] {
  const within = (inner: string, schema: JsonSchema) => [
    ...(schema.properties === undefined ? [] : [inner]),
    ...innerNames(inner, schema),
  ];
  return [
    ...Object.entries(properties).flatMap(([key, each]) => within(`${name}${capitalised(key)}`, each)),
    ...(items === undefined ? [] : within(`${name}Inner`, items)),
    ...(typeof additionalProperties === 'object' ? within(`${name}Value`, additionalProperties) : []),
  ];
}

function capitalised(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}

test('no schema is composed by allOf, and no tag is shared by paths and callbacks', () => {
  expect(JSON.stringify(document)).not.toContain('"allOf":');
  const tagsOf = (items: ApiDocument['paths'] = {}) =>
    Object.values(items).flatMap((methods) =>
      Object.values(methods).flatMap((operation) => (operation as { tags?: string[] }).tags ?? []),
    );
  const ofCallbacks = new Set(tagsOf(document.webhooks));
  expect([...ofCallbacks]).toEqual(['Callbacks']);
  expect(tagsOf(document.paths).filter((tag) => ofCallbacks.has(tag))).toEqual([]);
});

test('data of an example that look like a closed schema stay as they are', () => {
  const data = { additionalProperties: false };
  const schema: JsonSchema = { type: 'object', examples: [data], additionalProperties: false };
  const opened = finishDocument({ components: { schemas: { One: schema } } });
  expect(opened.components?.schemas?.['One']).toEqual({ type: 'object', examples: [data] });
});

test.each<[JsonSchema, unknown]>([
  [{ type: 'string', examples: ['a', 'b'] }, 'a'],
  [{ type: ['string', 'null'] }, null],
  [{ type: 'string', enum: ['x', 'y'] }, 'x'],
  [{ type: 'integer', minimum: 10 }, 10],
  [{ type: 'array', items: { type: 'boolean' } }, [false]],
  [
    { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'string' } } },
    { a: 'text' },
  ],
  [{ $ref: '#/components/schemas/One' }, 7],
  [{ oneOf: [{ $ref: '#/components/schemas/One' }, { type: 'string' }] }, 7],
])('the sample of %j is %j', (schema, expected) => {
  const named = { One: { const: 7 } };
  expect(sampleOf(schema, named)).toEqual(expected);
});
