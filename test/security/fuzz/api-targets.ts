import { deepEqual, equal, notEqual, ok, throws } from 'node:assert/strict';
import * as fc from 'fast-check';
import { bearerToken } from '../../../src/api/access/auth.ts';
import { csvLine, wantsCsv } from '../../../src/api/filings/table.ts';
import { decodeCursor, encodeCursor, type CursorKind } from '../../../src/api/shared/paging.ts';
import { instantMs, isInstant } from '../../../src/json/instant.ts';
import { Problem, problemBody } from '../../../src/api/shared/problem.ts';
import { addressKey } from '../../../src/api/access/limits.ts';
import {
  fingerprint,
  newSubscription,
  type SubscriptionInput,
} from '../../../src/api/subscriptions/input.ts';
import { subscriptionView } from '../../../src/api/subscriptions/view.ts';
import { subscriptionInputSchema } from '../../../src/api/subscriptions/schema.ts';
import { compileValidator } from '../../../src/api/server/validator.ts';
import { checkCustomHeaders } from '../../../src/egress/header-policy.ts';
import { parseSecret } from '../../../src/subscriptions/signing-secret.ts';
import { createSealer, SealError } from '../../../src/secrets/seal.ts';
import { privateSettingsPlace } from '../../../src/secrets/seal-place.ts';
import { parseDeliveryState } from '../../../src/subscriptions/delivery-state.ts';
import type { FuzzTarget } from './fuzz.ts';

const kinds: readonly CursorKind[] = [
  'accounts',
  'tokens',
  'subscriptions',
  'attempts',
  'dead-letters',
  'events',
  'filings:',
  'filings:COMPLETED',
  'filings:__proto__',
  'newest-events',
  'found-filings:[[],null,["PAID"],null,"newest"]',
];
const checkInput = compileValidator({
  schema: subscriptionInputSchema,
  method: 'POST',
  url: '/',
  httpPart: 'body',
});
const sealer = createSealer([
  { id: 'b', key: Buffer.alloc(32, 2) },
  { id: 'a', key: Buffer.alloc(32, 1) },
]);
const [placeA, placeB] = [
  privateSettingsPlace('a', 'sub_1', 'https://a.example'),
  privateSettingsPlace('a', 'sub_2', 'https://a.example'),
];
const sealedBefore = createSealer([{ id: 'a', key: Buffer.alloc(32, 1) }]).seal('secret', placeA);
const seed = 1;

/** What callers of the API send. */
export const apiTargets: readonly FuzzTarget[] = [
  {
    name: 'cursors and Last-Event-ID',
    seeds: () => [
      ...kinds.flatMap((kind) => ['', '0', '12-3', '1700000000000 f_1'].map((at) => encodeCursor(kind, at))),
      '12',
      '1700-0',
      '99999999999999999999',
    ],
    run(input) {
      const text = input.toString();
      const read = kinds.filter((kind) => positionOf(kind, text) !== null);
      ok(read.length <= 1, 'a cursor of one list is none of another');
      for (const kind of read) equal(encodeCursor(kind, positionOf(kind, text) ?? ''), text);
      for (const kind of kinds) {
        const made = encodeCursor(kind, text);
        const position = positionOf(kind, made);
        ok(position === null || position === Buffer.from(text).toString());
        if (kind === 'events' && position !== null) ok(Number.isSafeInteger(Number(position)));
        const at = input.length % made.length;
        const changed = `${made.slice(0, at)}${made[at] === 'A' ? 'B' : 'A'}${made.slice(at + 1)}`;
        equal(positionOf(kind, changed), null, 'one letter of it changed');
      }
    },
  },
  {
    name: 'tokens and addresses',
    seeds: () => [
      'Bearer abc',
      'bearer  fwa_x.default',
      'Basic abc',
      '10.0.0.1',
      '::ffff:10.0.0.1',
      '2001:db8::1%eth0',
    ],
    run(input) {
      const text = input.toString('latin1');
      const token = bearerToken(text);
      ok(token === null || (/^[!-~]+$/.test(token) && text.endsWith(token)));
      if (token !== null) equal(bearerToken(`Bearer ${token}`), token);
      equal(addressKey(text), addressKey(text));
      ok(addressKey(text).length <= Math.max(45, text.length));
    },
  },
  {
    name: 'sealed secrets',
    seeds: () => [
      '',
      'secret',
      'v1.a.AAAA',
      sealedBefore,
      sealer.seal('x', placeA),
      'v1.__proto__.',
      'v2.a.b.c',
    ],
    run(input) {
      const text = input.toString();
      if (text !== sealedBefore) throws(() => sealer.open(text, placeB), SealError);
      const sealed = sealer.seal(text, placeA);
      equal(sealer.open(sealed, placeA), text);
      ok(sealer.isCurrent(sealed) && !sealer.isCurrent(sealedBefore));
      throws(() => sealer.open(sealed, placeB), SealError);
      for (const at of [input.length, input[0] ?? 0, input.at(-1) ?? 0].map((one) => one % sealed.length)) {
        const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
        throws(() => sealer.open(changed, placeA), SealError);
      }
    },
  },
  {
    name: 'subscription input',
    seeds: () => [
      '{"url":"https://example.com/"}',
      JSON.stringify({
        url: 'https://example.com/',
        eventTypes: ['filing.*', 'ping'],
        states: ['TX'],
        description: 'd',
        headers: { 'x-team': 'a' },
        format: 'slack',
        payload: 'thin',
        secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`,
        from: 'earliest',
      }),
      '{"url":1,"states":[],"headers":{"Host":"a"},"other":{}}',
      ...fc.sample(fc.json(), { numRuns: 10, seed }),
    ],
    run: (input) => {
      const given = jsonOrNull(input.toString());
      const result = checkInput(given) as { value?: SubscriptionInput; error?: Error };
      if (result.error !== undefined) {
        if (!(result.error instanceof Problem)) throw result.error;
        const { errors = [] } = problemBody(result.error);
        ok(errors.length > 0 && errors.length <= 10 && errors.every(({ message }) => message !== ''));
        equal(new Set(errors.map(({ path }) => path)).size, errors.length, 'each field once');
        return;
      }
      checkTaken(result.value ?? ({} as SubscriptionInput));
    },
  },
  {
    name: 'times, CSV and Accept',
    seeds: () => [
      '2026-12-31T23:59:59Z',
      '2028-02-29t00:00:00.123456789+14:00',
      '2026-02-30T00:00:00z',
      '=1+1',
      '"a";b,\r\nc',
      'text/csv;q=0.5, application/json;q=1',
    ],
    run(input) {
      const text = input.toString();
      if (isInstant(text)) ok(new Date(instantMs(text) ?? Number.NaN).toISOString());
      const line = csvLine(['before', text, 'after']);
      const [first, cell = '', last, ...more] = cellsOf(line);
      deepEqual([first, last, more], ['before', 'after', []], 'a text stays in its cell');
      equal(cell.replace(/^'/, ''), text.replace(/^'/, ''));
      ok(!/^[\s\0]*[=+\-@]/.test(cell), 'no cell is a formula');
      equal(typeof wantsCsv(text), 'boolean');
    },
  },
];

function positionOf(kind: CursorKind, text: string): string | null {
  try {
    return decodeCursor(kind, text);
  } catch (error) {
    if (error instanceof Problem && error.code === 'invalid_cursor') return null;
    throw error;
  }
}

function checkTaken(input: SubscriptionInput): void {
  const taken = newSubscription('a', input, 1);
  ok(checkCustomHeaders(taken.headers).ok);
  for (const { text } of taken.secrets) parseSecret(text);
  const backwards = Object.fromEntries(Object.entries(input).toReversed()) as SubscriptionInput;
  equal(fingerprint(backwards), fingerprint(input));
  notEqual(fingerprint({ ...input, url: `${input.url}x` }), fingerprint(input));
  const secret = 'whsec_that-nobody-sends';
  const subscription = { ...taken, secrets: [{ text: secret, expiresAt: null }] };
  const shown = subscriptionView({ subscription, delivery: parseDeliveryState({}), unreadable: null }, 0, 1);
  ok(!JSON.stringify(shown).includes(secret));
  ok(Object.values(shown.headers).every((value) => value === '***'));
  deepEqual(JSON.parse(JSON.stringify(taken)), taken, 'it can be stored');
}

/** The cells of one line of CSV (RFC 4180). */
function cellsOf(line: string): string[] {
  const cells = [...line.slice(0, -2).matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g)];
  return cells.map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain);
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
