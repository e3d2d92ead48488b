import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { printEvents, type EventSchema } from '../scripts/print-events.ts';
import { isKnownEvent, type AnyEvent } from '../src/events/event.ts';
import { knownEventTypes, type FilingRejectedEvent, type KnownEvent } from '../src/events/events.ts';
import { readEvent } from '../src/events/read-event.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const schemas = globSync(`${here}../../../schemas/events/*.json`).map(
  (file) => JSON.parse(readFileSync(file, 'utf8')) as EventSchema & { examples: AnyEvent[] },
);

test('the types are what the schemas of the product say', () => {
  execFileSync('node', [`${here}../scripts/write-events.ts`, '--check'], { stdio: 'pipe' });
});

test('every example of every schema is read as an event of a known type, in both formats', () => {
  assert.equal(schemas.length, knownEventTypes.length);
  for (const example of schemas.flatMap(({ examples }) => examples)) {
    const { type, timestamp, data } = example;
    const bodies = [
      example,
      { specversion: '1.0', id: 'evt_1', source: '/accounts/default', type, time: timestamp, data },
    ];
    for (const [index, body] of bodies.entries()) {
      const read = readEvent(Buffer.from(JSON.stringify(body)));
      assert.deepEqual(read, {
        event: { type, timestamp, data },
        format: index === 0 ? 'standard' : 'cloudevents',
      });
      assert.ok(isKnownEvent(read.event));
    }
  }
});

test('an event of a later version is no known event, and leaves the narrowing of the others alone', () => {
  const later: AnyEvent = {
    type: 'filing.archived',
    timestamp: '2027-01-01T00:00:00Z',
    data: { account: 'a' },
  };
  assert.equal(isKnownEvent(later), false);
  const reasonOf = (event: AnyEvent): string | null => {
    if (!isKnownEvent(event)) return event.type;
    return event.type === 'filing.rejected' ? event.data.rejectionReason : null;
  };
  assert.equal(reasonOf(later), 'filing.archived');
  // Compiles only while `type` tells the events apart.
  const narrowed: Extract<KnownEvent, { type: 'filing.rejected' }> extends FilingRejectedEvent
    ? true
    : false = true;
  assert.ok(narrowed);
});

test('a keyword of JSON Schema that is not understood stops the generator, whatever it would have meant', () => {
  const [schema] = schemas;
  assert.ok(schema);
  const data = { type: 'object', properties: { amount: { type: 'string', oneOf: [] } } };
  const broken = { ...schema, properties: { ...schema.properties, data } };
  const filing = schemas.find(({ title }) => title === 'FilingPaidEvent');
  assert.ok(filing);
  assert.throws(
    () =>
      printEvents([
        { type: 'filing.paid', schema: filing },
        { type: 'x.y', schema: broken },
      ]),
    /oneOf: teach it/,
  );
});
