import { describe, expect, it } from 'vitest';
import { eventTypes } from '../../../src/events/event-types.ts';
import { variables } from '../../../src/config/variables.ts';
import { codeBlocks, filesBelow, readText } from './documents.ts';
import { eventExamples } from '../../support/event-examples.ts';

const document = readText('docs/webhooks.md');
const examples = await eventExamples();

describe('docs/webhooks.md', () => {
  it('has a section for every event type', () => {
    const sections = [...document.matchAll(/^### `(.+)`$/gm)].map(([, type = '']) => type);
    expect(sections.toSorted()).toEqual(Object.keys(eventTypes).toSorted());
  });

  it('shows a whole body, as the code makes it', () => {
    const shown = codeBlocks(document).filter(({ language }) => language === 'json');
    expect(shown.map(({ text }) => JSON.parse(text) as unknown)).toEqual([
      JSON.parse(examples['created']?.body ?? '') as unknown,
    ]);
  });

  it('shows or links every file of docs/verification, and shows it as it is', () => {
    const documents =
      document + readText('docs/endpoints/signatures.md').replaceAll('../verification', 'verification');
    const linked = [...documents.matchAll(/\]\((verification\/[^)\s]+)\)/g)].map(
      ([, path]) => `docs/${path}`,
    );
    expect([...new Set(linked)].toSorted(byText)).toEqual(filesBelow('docs/verification').toSorted(byText));
    const shown = [...documents.matchAll(/^\[`(verification\/\S+)`\]\(\1\)\n\n```\w+\n(.*?)\n```$/gms)].map(
      ([, path = '', text = '']) => ({ path: `docs/${path}`, text }),
    );
    expect(shown.length).toBeGreaterThan(1);
    expect(shown).toEqual(shown.map(({ path }) => ({ path, text: readText(path).trimEnd() })));
  });

  it('names the delays of the default retry schedule', () => {
    const row = /^\| next attempt in\s+\|(.*)\| it is given up/m.exec(document)?.[1] ?? '';
    const delays = row.split('|').map((cell) => milliseconds(cell.trim()));
    expect(delays.join()).toBe(variables.DELIVERY_RETRY_MS.default);
  });
});

function byText(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function milliseconds(text: string): number {
  const [count, unit = ''] = text.split(' ');
  return Number(count) * ({ s: 1000, min: 60_000, h: 3_600_000 }[unit] ?? Number.NaN);
}
