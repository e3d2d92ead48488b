import * as fc from 'fast-check';
import { buildFilingEvent } from '../../src/events/event.ts';

/** An event with this filing, as it comes out of the log. */
export function eventWith(
  filing: Readonly<Record<string, unknown>> | null,
  type = 'filing.pending',
  filingBytesMax = Infinity,
) {
  const side = { status: 'PENDING', completedAt: null, rejectionReason: null, removed: false };
  return buildFilingEvent(
    {
      account: 'acme',
      generation: 'g',
      filingId: 'f_1',
      type,
      sequence: 4,
      before: { ...side, status: 'PAID' },
      after: side,
      changed: ['status'],
      inferred: false,
      notBefore: 1_700_000_000_000,
      notAfter: 1_700_000_000_500,
      document: filing,
    },
    filingBytesMax,
  );
}

/** A filing of the usual kind. */
export const usualFiling = {
  id: 'f_1',
  filingType: 'NEW_BUSINESS',
  filingState: { name: 'Texas', stateAbbr: 'TX' },
  insuredsName: 'Bluebonnet Roofing LLC',
  carriersName: 'Größe & Co',
  policyEffectiveDate: '2026-11-01T00:00:00.000Z',
  premium: 18_250.5,
  odd: [1, 2.5, 'two', null, [true]],
  nothing: null,
  userFiles: [
    { id: 'a', name: 'Affidavit', pages: 2 },
    { id: 'b', name: 'Form', pages: 11 },
  ],
};

const names = ['<', '<=', '>', '>=', '==', '!='] as const;

/** Expressions that are well formed, sensible or not. */
export const expressions: fc.Arbitrary<string> = fc.letrec<Record<string, string>>((tie) => ({
  number: fc.oneof(
    fc.constantFrom(
      'filing.premium',
      'data.sequence',
      'filing.odd[1]',
      'filing.userFiles[1].pages',
      'filing.missing',
      '0',
      '2',
      '18250.5',
    ),
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*'), tie('number'))
      .map((parts) => `(${parts.join(' ')})`),
    tie('list').map((list) => `size(${list})`),
    tie('text').map((text) => `size(${text})`),
  ),
  text: fc.oneof(
    fc.constantFrom(
      'data.status',
      'type',
      'filing.carriersName',
      'filing.filingState.stateAbbr',
      'filing.userFiles[0].name',
    ),
    fc.constantFrom('"TX"', "'PAID'", '"a"', 'filing["gone"]', '"Größe"', 'filing.insuredsName'),
    fc
      .tuple(tie('text'), fc.constantFrom('lowerAscii', 'upperAscii'))
      .map(([text, method]) => `${text}.${method}()`),
  ),
  list: fc.oneof(
    fc.constantFrom('filing.userFiles', 'data.changed', 'filing.odd', '["TX", "CA"]', '[]', 'filing.premium'),
    fc.array(tie('number'), { minLength: 1, maxLength: 3 }).map((items) => `[${items.join(', ')}]`),
  ),
  truth: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.constantFrom(
      'data.inferred',
      'true',
      'has(filing.premium)',
      'has(filing.missing)',
      'has(filing.filingState.name)',
      'filing.nothing == null',
    ),
    fc.tuple(tie('number'), fc.constantFrom(...names), tie('number')).map((parts) => parts.join(' ')),
    fc.tuple(tie('text'), fc.constantFrom(...names), tie('text')).map((parts) => parts.join(' ')),
    fc
      .tuple(tie('text'), fc.constantFrom('startsWith', 'endsWith'), tie('text'))
      .map(([text, method, part]) => `${text}.${method}(${part})`),
    tie('text').map((text) => `${text}.contains("i")`),
    fc.tuple(fc.oneof(tie('text'), tie('number')), tie('list')).map(([item, list]) => `${item} in ${list}`),
    fc.tuple(tie('truth'), fc.constantFrom('&&', '||'), tie('truth')).map((parts) => `(${parts.join(' ')})`),
    tie('truth').map((truth) => `!(${truth})`),
    fc.tuple(tie('truth'), tie('truth'), tie('truth')).map(([a, b, c]) => `(${a} ? ${b} : ${c})`),
  ),
}))['truth'] as fc.Arbitrary<string>;
