import { describe, expect, it } from 'vitest';
import { eventTypes } from '../../../src/events/event-types.ts';
import { variables } from '../../../src/config/variables.ts';
import { formatBody } from '../../../src/callbacks/body-formats.ts';
import type { Subscription } from '../../../src/subscriptions/subscription.ts';
import { codeBlocks, filesBelow, readText } from './documents.ts';
import { eventExamples, exampleSubscription, type Example } from '../../support/event-examples.ts';

const document = readText('docs/webhooks.md');
const examples = await eventExamples();

describe('docs/webhooks.md', () => {
  it('has a section for every event type', () => {
    const sections = [...document.matchAll(/^### `(.+)`$/gm)].map(([, type = '']) => type);
    expect(sections.toSorted()).toEqual(Object.keys(eventTypes).toSorted());
  });

  it('shows the bodies that the code makes, each below the section of its type', () => {
    const shown = codeBlocks(document).flatMap(({ language, text }) =>
      language === 'json' ? [JSON.parse(text) as unknown] : [],
    );
    const bodies = Object.values(examples).map(({ body }) => JSON.parse(body) as unknown);
    const formats = [
      { payload: 'thin' },
      { format: 'cloudevents', payload: 'thin' },
      { format: 'slack' },
      { format: 'teams' },
    ] as const;
    const expected = [...bodies, ...formats.map((settings) => inFormat(examples['rejected'], settings))];
    expect(shown).toEqual(expected.map((body, i) => (i === 0 ? body : withFilingShortened(body))));
    expect(typesBelowSections()).toEqual(
      typesBelowSections().map(({ section }) => ({ section, type: section })),
    );
  });

  it('shows every file of docs/verification as it is', () => {
    const documents =
      document + readText('docs/endpoints/signatures.md').replaceAll('../verification', 'verification');
    const shown = [...documents.matchAll(/^\[`(verification\/\S+)`\]\(\1\)\n\n```\w+\n(.*?)\n```$/gms)].map(
      ([, path = '', text = '']) => ({ path: `docs/${path}`, text }),
    );
    const files = filesBelow('docs/verification');
    expect(shown.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toEqual(
      files.map((path) => ({ path, text: readText(path).trimEnd() })),
    );
  });

  it('names the delays of the default retry schedule', () => {
    const row = /^\| next attempt in\s+\|(.*)\| it is given up/m.exec(document)?.[1] ?? '';
    const delays = row.split('|').map((cell) => milliseconds(cell.trim()));
    expect(delays.join()).toBe(variables.DELIVERY_RETRY_MS.default);
  });
});

function inFormat(example: Example | undefined, settings: Partial<Subscription>): unknown {
  if (example === undefined) throw new Error('no such example');
  const entry = { ...example, body: Buffer.from(example.body) };
  return JSON.parse(formatBody(exampleSubscription(settings), entry).bytes.toString());
}

/** Only the first example shows the whole filing. */
function withFilingShortened(body: unknown): unknown {
  const text = JSON.stringify(body, (key, value: { id: string; status: string } | null) =>
    key === 'filing' && value !== null ? { id: value.id, status: value.status, '…': '…' } : value,
  );
  return JSON.parse(text);
}

/** The types of the events shown in the sections about event types. */
function typesBelowSections(): { section: string; type: string }[] {
  return document
    .split(/^### `/m)
    .slice(1)
    .flatMap((text) => {
      const section = text.slice(0, text.indexOf('`'));
      const own = text.split(/^## /m, 1)[0] ?? '';
      return codeBlocks(own).map((block) => ({
        section,
        type: (JSON.parse(block.text) as { type: string }).type,
      }));
    });
}

function milliseconds(text: string): number {
  const [count, unit = ''] = text.split(' ');
  return Number(count) * ({ s: 1000, min: 60_000, h: 3_600_000 }[unit] ?? Number.NaN);
}
