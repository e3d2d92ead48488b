import { Compile } from 'typebox/compile';
import { beforeAll, expect, test } from 'vitest';
import { openWhatIsSent } from '../../../../src/api/document/open-schemas.ts';
import { sampleOf } from '../../../../src/api/document/examples.ts';
import { mapContents, mapOperations } from '../../../../src/api/document/json-schema.ts';
import type { ApiDocument, JsonSchema, MediaType } from '../../../../src/api/document/json-schema.ts';
import { eventTypes } from '../../../../src/events/event-types.ts';
import { inlined } from '../../../support/api/documented.ts';
import { writeDocument } from '../../../support/api/inert-document.ts';

let document: ApiDocument;

beforeAll(async () => {
  document = await writeDocument();
});

interface Body extends MediaType {
  readonly where: string;
  readonly type: string;
}

function bodies(kind: 'request' | 'response'): Body[] {
  const found: Body[] = [];
  mapOperations(document, (operation) => {
    const note = (of: typeof kind) => (content: Readonly<Record<string, MediaType>>) => {
      for (const [type, media] of Object.entries(content))
        if (of === kind) found.push({ where: operation.operationId ?? '', type, ...media });
      return content;
    };
    return mapContents(operation, note('request'), note('response'));
  });
  return found;
}

test('every body in JSON has a name and an example that fits its schema', () => {
  const all = [...bodies('request'), ...bodies('response')].filter(({ type }) => type.endsWith('json'));
  expect(all.length).toBeGreaterThan(200);
  for (const { where, schema, example } of all) {
    expect(schema?.$ref, where).toMatch(/^#\/components\/schemas\/\w+$/);
    const check = Compile(inlined(document as never, schema) as never);
    expect({ where, example, errors: check.Errors(example) }).toEqual({ where, example, errors: [] });
  }
});

test('nothing that is sent is closed, and every request is', () => {
  const schemas = document.components?.schemas ?? {};
  const requests = new Set(
    bodies('request')
      .filter(({ where }) => !where.startsWith('callback_'))
      .map(({ schema }) => schema?.$ref?.split('/').at(-1) ?? ''),
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

test('data of an example that look like a closed schema stay as they are', () => {
  const data = { additionalProperties: false };
  const schema: JsonSchema = { type: 'object', examples: [data], additionalProperties: false };
  const opened = openWhatIsSent({ components: { schemas: { One: schema } } });
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
  [{ allOf: [{ $ref: '#/components/schemas/Two' }, { type: 'object', properties: {} }] }, { two: 2 }],
])('the sample of %j is %j', (schema, expected) => {
  const named = { One: { const: 7 }, Two: { const: { two: 2 } } };
  expect(sampleOf(schema, named)).toEqual(expected);
});
