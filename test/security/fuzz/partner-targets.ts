import { deepEqual, equal, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import { detectChange } from '../../../src/filings/detection/detect-change.ts';
import { decodeState, encodeState } from '../../../src/filings/detection/filing-state.ts';
import { parseRetryAfter, retryAfterMaxMs } from '../../../src/waiting/retry-after.ts';
import { isNestedDeeper } from '../../../src/json/nesting.ts';
import { parseExactly } from '../../../src/json/parse-exactly.ts';
import { parseFiling, parsePage, type PartnerFiling } from '../../../src/partner/filing-schema.ts';
import type { FuzzTarget } from './fuzz.ts';

const filing = { id: 'f_1', status: 'PAID', completedAt: null, rejectionReason: null, premium: 12.5 };
const seed = 1;

/** What a partner service sends. */
export const partnerTargets: readonly FuzzTarget[] = [
  {
    name: 'page',
    seeds: () => [
      JSON.stringify({ items: [filing, { ...filing, id: 'f_2', status: 'NEW' }], total: '2', limit: 50 }),
      JSON.stringify({ items: Array.from({ length: 10 }, (_, id) => ({ id })), total: 10 }),
      `{"items":[{"id":"a","status":"COMPLETED","completedAt":1e3,"premium":1200.10,"no":12345678901234567890}]}`,
      `{"items":[{"id":"a","status":"PAID","x":${'['.repeat(60)}${']'.repeat(60)}}]}`,
      ...fc.sample(fc.json({ stringUnit: 'binary' }), { numRuns: 10, seed }),
    ],
    run(input) {
      const text = input.toString();
      const value = jsonOrUndefined(text) as { items?: unknown[] } | null | undefined;
      const page = valueOrUndefined(() => parsePage(() => text));
      equal(page === undefined, value === undefined, 'a page is JSON and nothing else');
      if (page === null) return ok(!Array.isArray(value?.items) || value.items.length > 9);
      if (page === undefined) return;
      equal(page.length, (value?.items ?? []).length);
      equal(page.filings.length + page.unreadable, page.length);
      for (const count of [page.total, page.limit])
        ok(count === null || (Number.isSafeInteger(count) && count >= 0));
      for (const read of page.filings) checkFiling(read);
      for (const name of page.quarantined) ok(name.length > 0 && name.length <= 256);
    },
  },
  {
    name: 'filing',
    seeds: () => [
      JSON.stringify(filing),
      JSON.stringify({ ...filing, status: 'REJECTED', rejectionReason: 'Not signed \ud83d' }),
      '{"id":"x","status":"PAID","completedAt":1.50e3}',
    ],
    run(input) {
      const read = valueOrUndefined(() => parseFiling(() => input.toString()));
      if (read === null || read === undefined) return;
      checkFiling(read);
      const window = { start: 5, end: 9 };
      const detected = detectChange(null, read, window, true);
      if (detected.kind !== 'change') throw new Error(`a filing never seen before is ${detected.kind}`);
      deepEqual(decodeState(encodeState(detected.next)), detected.next);
      equal(detectChange(detected.next, read, { start: 10, end: 11 }, true).kind, 'unchanged');
    },
  },
  {
    name: 'JSON depth and numbers',
    seeds: () => [
      '[[[]]]',
      '{"a":{"b":[{"c":1}]}}',
      '[0.10,1e2,-0]',
      ...fc.sample(fc.json(), { numRuns: 10, seed }),
    ],
    run(input) {
      const value = jsonOrUndefined(input.toString());
      if (value === undefined) return;
      const depth = depthOf(value);
      for (const levels of [0, 1, 20, 50]) equal(isNestedDeeper(value, levels), depth > levels);
      if (depth > 50) return;
      const written = JSON.stringify(parseExactly(input.toString()));
      deepEqual(JSON.parse(written), value);
      equal(JSON.stringify(parseExactly(written)), written);
    },
  },
  {
    name: 'Retry-After',
    seeds: () => [
      '120',
      '1e12',
      '0.5',
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
      new Date(Date.UTC(2030, 1, 1)).toUTCString(),
    ],
    run(input) {
      const text = input.toString('latin1');
      const now = Date.UTC(2030, 0, 31, 23, 30);
      const pause = parseRetryAfter(text, now);
      equal(parseRetryAfter(` ${text}\t`, now), pause);
      if (pause === null) return;
      ok(Number.isInteger(pause) && pause >= 0 && pause <= retryAfterMaxMs);
      const later = parseRetryAfter(text, now + 1_000) ?? -1;
      ok(later >= 0 && later <= pause, 'the same moment comes no later when it is read later');
    },
  },
];

function checkFiling({ id, status, completedAt, rejectionReason, createdAt, document }: PartnerFiling): void {
  ok(id.length > 0 && id.length <= 256 && status.length > 0 && status.length <= 64);
  const url = new URL(`http://partner/v1/partner/${encodeURIComponent(id)}`);
  equal(decodeURIComponent(url.pathname.slice('/v1/partner/'.length)), id, 'it can be asked for by its id');
  equal(Buffer.from(status).toString(), status, 'its status can be stored');
  const again = parseFiling(() => JSON.stringify(document()));
  deepEqual(
    { ...again, document: null },
    { id, status, completedAt, rejectionReason, createdAt, document: null },
    'an event holds the filing that was read',
  );
}

/** Without recursion, as a second opinion. */
function depthOf(value: unknown): number {
  let depth = 0;
  for (let level = [value]; ; depth += 1) {
    const holders = level.filter((one) => typeof one === 'object' && one !== null);
    if (holders.length === 0) return depth;
    level = holders.flatMap((holder) => Object.values(holder) as unknown[]);
  }
}

function jsonOrUndefined(text: string): unknown {
  return valueOrUndefined((): unknown => JSON.parse(text));
}

/** Undefined where the text is not JSON. */
function valueOrUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
