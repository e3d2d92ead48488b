import { describe, expect, it } from 'vitest';
import { eventCatalogue } from '../../../../src/api/document/event-types.ts';
import { eventTypes } from '../../../../src/events/event-types.ts';
import { formatBody } from '../../../../src/callbacks/body-formats.ts';
import { eventExamples, exampleSubscription } from '../../../support/event-examples.ts';
import { eventErrors } from '../../../support/schemas/event-errors.ts';

const catalogue = eventCatalogue();
const examples = Object.entries(await eventExamples());

describe('the catalogue of event types', () => {
  it('has every event type, and knows the operational ones', () => {
    expect(catalogue.map(({ type }) => type)).toEqual(Object.keys(eventTypes));
    const operational = catalogue.filter((entry) => entry.operational).map(({ type }) => type);
    expect(operational.toSorted()).toEqual(
      Object.keys(eventTypes)
        .filter((type) => /^(?:account|subscription)\./.test(type))
        .toSorted(),
    );
  });

  it('has an example of each type that fits its schema', () => {
    expect(catalogue.flatMap(({ example }) => eventErrors(example as { type: string }))).toEqual([]);
  });

  it.each(examples)('has a schema that takes the real event of docs/webhooks.md: %s', (_, example) => {
    for (const payload of ['full', 'thin'] as const) {
      const { bytes } = formatBody(exampleSubscription({ payload }), {
        ...example,
        body: Buffer.from(example.body),
      });
      expect(eventErrors(JSON.parse(bytes.toString()) as { type: string })).toEqual([]);
    }
  });

  it('refuses an event that lacks a field, or has another type in one', () => {
    const event = JSON.parse(examples.find(([name]) => name === 'rejected')?.[1].body ?? '') as {
      type: string;
      data: Record<string, unknown>;
    };
    const { sequence: _, ...without } = event.data;
    const changed = (data: object) => Object.assign({}, event, { data });
    expect(eventErrors(changed(without))).not.toEqual([]);
    expect(eventErrors(changed({ ...event.data, sequence: '4' }))).not.toEqual([]);
  });

  it('takes what the partner service may send and what later versions may add', () => {
    const { example } = catalogue.find(({ type }) => type === 'filing.rejected') ?? {};
    const event = structuredClone(example) as { type: string; data: Record<string, unknown> };
    event.data['filing'] = { id: 'f_1', status: 'REJECTED', premium: null, policyNumber: 7, unheardOf: [1] };
    event.data['later'] = true;
    const omitted = { ...event, data: { ...event.data, filing: null, omitted: 'for_another_reason' } };
    expect([...eventErrors(event), ...eventErrors(omitted)]).toEqual([]);
  });
});
