import { validateHeaderName, validateHeaderValue } from 'node:http';
import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { bearerToken } from '../../src/api/auth.ts';
import { decodeCursor } from '../../src/api/cursor.ts';
import { variables } from '../../src/config-variables.ts';
import { loadConfig } from '../../src/config.ts';
import { createEgressPolicy } from '../../src/delivery/egress-policy.ts';
import { checkCustomHeaders } from '../../src/delivery/header-policy.ts';
import { checkCallbackUrl } from '../../src/delivery/url-policy.ts';
import { parseRetryAfter, RETRY_AFTER_MAX_MS } from '../../src/http/retry-after.ts';
import { parseFiling, parsePage } from '../../src/partner/filing-schema.ts';
import { createSealer, SealError } from '../../src/secrets/seal.ts';

// FUZZ_SECONDS=600 searches each for ten minutes; by default it is a look at a few hundred inputs.
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 0);
const search =
  seconds === 0
    ? { numRuns: 500 }
    : { numRuns: Number.MAX_SAFE_INTEGER, interruptAfterTimeLimit: seconds * 1_000 };
const timeout = (seconds + 60) * 1_000;

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ maxLength: 60 }),
);
const policy = createEgressPolicy({ allowCidrs: [] });
const secret = 'a-secret-that-nobody-must-repeat';

test(
  'a page of anything is read whole: each record is a filing that can be written, or quarantined; or it is none',
  () => {
    const anything = fc.jsonValue({ maxDepth: 6, stringUnit: 'binary' });
    const nearly = fc.record({ id: fc.oneof(text, fc.constant('f_1')), status: text, completedAt: anything });
    const check = fc.property(fc.array(fc.oneof(anything, nearly)), anything, (items, total) => {
      const page = parsePage(JSON.stringify({ items, total }));
      const read = page === null ? items.length : page.filings.length + page.quarantined.length;
      expect(read).toBe(items.length);
      expect(page !== null || items.length > 9).toBe(true);
      for (const { id, document } of page?.filings ?? []) {
        encodeURIComponent(id);
        JSON.stringify(document());
      }
      for (const item of items) parseFiling(JSON.stringify(item));
    });
    fc.assert(check, search);
  },
  timeout,
);

test(
  'a Retry-After of anything is no pause, or one of an hour at most',
  () => {
    const dates = fc.date({ noInvalidDate: true }).map((date) => date.toUTCString());
    const numbers = fc.oneof(fc.double().map(String), fc.bigInt().map(String));
    const check = fc.property(fc.oneof(text, dates, numbers), fc.nat(2 ** 31), (value, now) => {
      const pause = parseRetryAfter(value, now * 1_000);
      expect(pause === null || (Number.isInteger(pause) && pause >= 0 && pause <= RETRY_AFTER_MAX_MS)).toBe(
        true,
      );
    });
    fc.assert(check, search);
  },
  timeout,
);

test(
  'headers that are taken can be sent, one line each',
  () => {
    const names = fc.oneof(text, fc.constantFrom('x-a', 'Host', 'WEBHOOK-ID', 'x_real_ip'));
    const check = fc.property(fc.dictionary(names, text, { maxKeys: 5 }), (headers) => {
      if (!checkCustomHeaders(headers).ok) return;
      for (const [name, value] of Object.entries(headers)) {
        validateHeaderName(name);
        validateHeaderValue(name, value);
        expect(name.toLowerCase()).not.toMatch(/^(host|webhook-.*|x_real_ip)$/);
      }
    });
    fc.assert(check, search);
  },
  timeout,
);

test(
  'a URL that is taken leads to a name or a public address, and has no user and no fragment',
  () => {
    const authority = fc.oneof(
      text,
      fc.ipV4(),
      fc.ipV4Extended(),
      fc.ipV6().map((address) => `[${address}]`),
      fc.webAuthority({ withUserInfo: true, withIPv4: true, withIPv6: true, withPort: true }),
    );
    const start = fc.constantFrom('http://', 'https://', 'HTTP://', 'http:/', 'http:\\\\', '');
    const rest = fc.oneof(
      fc.constant(''),
      text.map((path) => `/${path}`),
    );
    const check = fc.property(start, authority, rest, (...parts) => {
      const checked = checkCallbackUrl(parts.join(''), { allowHttp: true, policy });
      if (!checked.ok) return;
      const { hostname, username, password, hash } = checked.url;
      const host = hostname.replaceAll(/[[\]]/g, '');
      expect(isIP(host) === 0 || policy.isAllowed(host)).toBe(true);
      expect([username, password, hash]).toEqual(['', '', '']);
    });
    fc.assert(check, search);
  },
  timeout,
);

test(
  'what was not given out as a cursor, a token or a sealed text is none',
  () => {
    const encode = (value: string) => Buffer.from(value).toString('base64url');
    const nearly = fc.oneof(
      text,
      text.map(encode),
      fc.jsonValue().map((value) => encode(JSON.stringify([1, value, '']))),
      text.map((inner) => `v1.a.${encode(inner)}`),
    );
    const sealer = createSealer([{ id: 'a', key: Buffer.alloc(32, 1) }]);
    const check = fc.property(nearly, (given) => {
      expect(() => decodeCursor('events', given)).toThrow(
        expect.objectContaining({ code: 'invalid_cursor' }),
      );
      expect(() => sealer.open(given, 'account:a')).toThrow(SealError);
      expect(bearerToken(`Bearer ${given}`) ?? '').toMatch(/^[!-~]*$/);
    });
    fc.assert(check, search);
  },
  timeout,
);

test(
  'configuration of anything is taken or refused, and no value is repeated',
  () => {
    const names = fc.constantFrom(...Object.keys(variables));
    const places = [
      '',
      'redis://:SECRET@h/x',
      'https://u:SECRET@h/',
      'a:SECRET,b:c',
      '127.0.0.1/SECRET',
      '1,SECRET',
    ];
    const values = fc.oneof(
      text,
      text.map((around) => `${around}${secret}`),
      fc.constantFrom(...places.map((place) => place.replace('SECRET', secret))),
    );
    const check = fc.property(fc.dictionary(names, values, { maxKeys: 12 }), (environment) => {
      const loaded = loadConfig(environment);
      const said = loaded.ok ? '' : loaded.problems.join('\n');
      expect(said).not.toContain(secret);
    });
    fc.assert(check, search);
  },
  timeout,
);
