import { describe, expect, it } from 'vitest';
import type { JsonSchema } from '../../../../src/api/document/finish-document.ts';
import { judgeFiles, judgeSchemas } from '../../../support/schemas/judge-schemas.ts';
import { schemaBreaks } from '../../../support/schemas/schema-breaks.ts';
import {
  committedFiles,
  lastRelease,
  meantBreaks,
  presentFiles,
  presentSchemas,
} from '../../../support/schemas/schema-files.ts';

const text = { type: 'string' };
const event = (properties: Record<string, JsonSchema>, required = Object.keys(properties)): JsonSchema => ({
  type: 'object',
  required: ['data'],
  properties: { data: { type: 'object', required, properties } },
});
const breaksOf = (before: JsonSchema, now: JsonSchema) =>
  schemaBreaks({ ping: before }, { ping: now }).map(({ place, change }) => `${place} ${change}`);

describe('a change of an event schema breaks receivers', () => {
  it.each([
    ['a field is removed', event({ a: text, b: text }), event({ a: text }), 'ping data.b field_removed'],
    ['a field may be missing', event({ a: text }), event({ a: text }, []), 'ping data.a may_be_missing'],
    [
      'a field has another type',
      event({ a: text }),
      event({ a: { type: 'integer' } }),
      'ping data.a other_type',
    ],
    [
      'a field may be null',
      event({ a: text }),
      event({ a: { type: ['string', 'null'] } }),
      'ping data.a other_type',
    ],
    ['a field may be anything', event({ a: text }), event({ a: {} }), 'ping data.a other_type'],
    [
      'a whole number may have decimals',
      event({ a: { type: 'integer' } }),
      event({ a: { type: 'number' } }),
      'ping data.a other_type',
    ],
    [
      'a list of values grows',
      event({ a: { ...text, enum: ['x'] } }),
      event({ a: { ...text, enum: ['x', 'y'] } }),
      'ping data.a new_value',
    ],
    [
      'a list of values ends',
      event({ a: { ...text, enum: ['x'] } }),
      event({ a: text }),
      'ping data.a new_value',
    ],
    [
      'a constant changes',
      event({ a: { ...text, const: 'x' } }),
      event({ a: { ...text, const: 'y' } }),
      'ping data.a new_value',
    ],
    [
      'a time is no longer one',
      event({ a: { ...text, format: 'date-time' } }),
      event({ a: text }),
      'ping data.a other_form',
    ],
    [
      'a text may be longer',
      event({ a: { ...text, maxLength: 9 } }),
      event({ a: { ...text, maxLength: 10 } }),
      'ping data.a wider_bound',
    ],
    [
      'the items of a list have another type',
      event({ a: { type: 'array', items: text } }),
      event({ a: { type: 'array', items: { type: 'null' } } }),
      'ping data.a[] other_type',
    ],
  ])('%s', (_, before, now, expected) => {
    expect(breaksOf(before, now)).toEqual([expected]);
    expect(breaksOf(now, now)).toEqual([]);
  });

  it('an event type is removed', () => {
    expect(schemaBreaks({ ping: event({}) }, {}).map(({ change }) => change)).toEqual(['type_removed']);
  });

  it.each([
    ['a field is added', event({ a: text }), event({ a: text, b: text })],
    ['a field is always there now', event({ a: text }, []), event({ a: text })],
    ['a field is never null any more', event({ a: { type: ['string', 'null'] } }), event({ a: text })],
    ['a number is whole now', event({ a: { type: 'number' } }), event({ a: { type: 'integer' } })],
    ['a list of values shrinks', event({ a: { enum: ['x', 'y'] } }), event({ a: { enum: ['x'] } })],
    ['a description changes', event({ a: text }), event({ a: { ...text, description: 'other' } })],
  ])('but not where %s', (_, before, now) => {
    expect(breaksOf(before, now)).toEqual([]);
  });
});

describe('the schemas of events', () => {
  it('hold what the last release promised, but for the breaks that are declared', () => {
    expect(lastRelease()).not.toBeNull();
    expect(judgeSchemas(lastRelease(), presentSchemas(), meantBreaks())).toEqual([]);
  });

  it.each<[string, (schemas: Record<string, unknown>) => void, RegExp]>([
    ['a type is gone', (schemas) => void delete schemas['filing.rejected'], /^filing\.rejected: /],
    [
      'a field is gone',
      (schemas) => void delete dataOf(schemas).properties['rejectionReason'],
      /^filing\.rejected.*rejectionReason/,
    ],
    [
      'a field may be missing',
      (schemas) => {
        const data = dataOf(schemas);
        data.required = data.required.filter((name) => name !== 'sequence');
      },
      /^filing\.rejected.*sequence/,
    ],
    [
      'a field is of another kind',
      (schemas) => void (dataOf(schemas).properties['sequence'] = { type: 'string' }),
      /^filing\.rejected.*sequence/,
    ],
  ])('fail the check where %s that was released', (_name, seed, finding) => {
    const schemas = structuredClone(presentSchemas()) as Record<string, unknown>;
    seed(schemas);
    const findings = judgeSchemas(lastRelease(), schemas as ReturnType<typeof presentSchemas>, meantBreaks());
    expect(findings).toContainEqual(expect.stringMatching(finding));
  });

  it('are in the package as the code has them', async () => {
    expect(judgeFiles(await presentFiles(), committedFiles())).toEqual([]);
  });

  it('may break what was released where that is declared with its reason, once', () => {
    const release = { version: '1.0.0', events: { ping: event({ a: text }) } };
    const meant = { place: 'ping data.a', change: 'field_removed', why: 'It never had a value.' };
    const now = { ping: event({}) };
    expect(judgeSchemas(release, now, [])).toEqual([
      expect.stringMatching(/^ping data\.a: it is gone: a receiver that reads it fails .*breaks\.json/),
    ]);
    expect(judgeSchemas(release, now, [meant])).toEqual([]);
    expect(judgeSchemas(release, now, [{ ...meant, why: ' ' }])).toHaveLength(1);
    expect(judgeSchemas(release, release.events, [meant])).toHaveLength(1);
  });
});

/** The schema of `data` of filing.rejected, to be changed. */
function dataOf(schemas: Record<string, unknown>) {
  const { properties } = schemas['filing.rejected'] as {
    properties: { data: { properties: Record<string, unknown>; required: string[] } };
  };
  return properties.data;
}
