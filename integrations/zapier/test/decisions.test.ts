import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import type { ZObject } from 'zapier-platform-core';
import { readAddress } from '../src/address.ts';
import { isRepeat } from '../src/hook/repeats.ts';
import { verify } from '../src/hook/verify.ts';
import { readFlag, readList, readText } from '../src/input.ts';
import { judge } from '../src/problem.ts';

const secretOf = (text: string) => `whsec_${Buffer.from(text.padEnd(32, '.')).toString('base64')}`;
const now = Date.parse('2026-11-21T10:00:00.000Z');
const content =
  '{"type":"filing.rejected","timestamp":"2026-11-21T09:59:59.000Z","data":{"name":"Größe 🥨"}}';

/** A callback that was signed so many seconds ago with these secrets. */
function callback(ago: number, ...secrets: string[]) {
  const signedAt = new Date(now - ago * 1000);
  const signature = secrets
    .map((secret) => new Webhook(secretOf(secret)).sign('evt_1', signedAt, content))
    .join(' ');
  const seconds = String(Math.floor(signedAt.getTime() / 1000));
  return {
    content,
    headers: {
      'Content-Type': 'application/json',
      'Http-Webhook-Id': 'evt_1',
      'Http-Webhook-Timestamp': seconds,
      'Http-Webhook-Signature': signature,
    },
  };
}

describe('the signature of a callback', () => {
  it('fits with the secret of the Zap, also while a former one signs too', () => {
    for (const raw of [callback(0, 'mine'), callback(0, 'new', 'mine'), callback(0, 'mine', 'former')]) {
      const verified = verify(raw, secretOf('mine'), now);
      assert.ok(typeof verified !== 'string', String(verified));
      assert.deepEqual([verified.id, verified.body.data], ['evt_1', { name: 'Größe 🥨' }]);
    }
  });

  it('is read from headers as Zapier writes them, and as they are sent', () => {
    const { headers } = callback(0, 'mine');
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toLowerCase().replace('http-', ''), value]),
    );
    assert.ok(typeof verify({ content, headers: sent }, secretOf('mine'), now) !== 'string');
  });

  it('may have waited in the queue of Zapier for hours, not for days, and is not of the future', () => {
    for (const [ago, isTaken] of [
      [20 * 60, true],
      [23 * 3600, true],
      [25 * 3600, false],
      [-4 * 60, true],
      [-6 * 60, false],
    ] as const)
      assert.equal(
        typeof verify(callback(ago, 'mine'), secretOf('mine'), now) !== 'string',
        isTaken,
        `${ago} s`,
      );
  });

  it('does not fit without a secret, a body, a header, or with another version, name or time', () => {
    const mine = callback(0, 'mine');
    const changed = (header: string, value: string) => ({
      ...mine,
      headers: { ...mine.headers, [header]: value },
    });
    for (const [raw, secret] of [
      [mine, undefined],
      [mine, secretOf('other')],
      [undefined, secretOf('mine')],
      [{ headers: mine.headers }, secretOf('mine')],
      [{ content }, secretOf('mine')],
      [{ ...mine, content: `${content} ` }, secretOf('mine')],
      [changed('Http-Webhook-Id', 'evt_2'), secretOf('mine')],
      [changed('Http-Webhook-Timestamp', String(now / 1000 - 1)), secretOf('mine')],
      [changed('Http-Webhook-Timestamp', 'soon'), secretOf('mine')],
      [changed('Http-Webhook-Signature', ''), secretOf('mine')],
      [changed('Http-Webhook-Signature', 'v1,'), secretOf('mine')],
      [
        changed('Http-Webhook-Signature', mine.headers['Http-Webhook-Signature'].replace('v1,', 'v1a,')),
        secretOf('mine'),
      ],
    ] as const)
      assert.equal(typeof verify(raw, secret, now), 'string', JSON.stringify(raw));
  });
});

describe('a cache of Zapier that fails', () => {
  it('costs no event', async () => {
    const refuse = () => Promise.reject(new Error('rpc is not available'));
    const z = { cache: { get: refuse, set: refuse }, console: { log: () => undefined } };
    assert.equal(await isRepeat(z as unknown as ZObject, 'sub_1', { id: 'evt_1' }), false);
  });
});

describe('a callback that was recorded', () => {
  it('starts a Zap once, as long as its signature is taken', async () => {
    let at = now;
    const kept = new Map<string, { value: unknown; until: number }>();
    const cache = {
      get: (key: string) => Promise.resolve((kept.get(key)?.until ?? 0) > at ? kept.get(key)?.value : null),
      set: (key: string, value: unknown, ttl: number) =>
        Promise.resolve(kept.set(key, { value, until: at + ttl * 1000 })),
    };
    const z = { cache, console: { log: () => undefined } } as unknown as ZObject;
    const runsOf = async (raw: ReturnType<typeof callback>) => {
      const verified = verify(raw, secretOf('mine'), at);
      return typeof verified === 'string' ? verified : !(await isRepeat(z, 'sub_1', verified));
    };
    // From a daemon whose clock is four minutes ahead, and another attempt hours later.
    const [first, second] = [callback(-4 * 60, 'mine'), callback(-20 * 3600, 'mine')];
    assert.equal(await runsOf(first), true);
    for (const [hours, raw] of [
      [0, first],
      [12, first],
      [20, second],
      [23.9, first],
      [30, second],
      [43.9, second],
    ] as const) {
      at = now + hours * 3_600_000;
      assert.equal(await runsOf(raw), false, `after ${hours} hours`);
    }
    at = now + 44 * 3_600_000;
    assert.equal(await runsOf(second), 'It was signed at another time.');
  });
});

describe('what Zapier does about an error', () => {
  const asked = { base: 'https://filings.example.com', account: 'default' };
  const problem = (code: string, errors: { path: string; message: string }[] = []) => ({
    code,
    detail: 'Why and what to do.',
    errors,
  });

  it('depends on what helps', () => {
    for (const [status, body, retryAfter, kind] of [
      [401, problem('unauthorized'), null, 'reconnect'],
      [403, problem('read_only_token'), null, 'fail'],
      [404, problem('account_not_found'), null, 'fail'],
      [404, problem('subscription_not_found'), null, 'fail'],
      [409, problem('filing_not_rejected'), null, 'halt'],
      [409, problem('account_quota_exceeded'), null, 'fail'],
      [422, problem('invalid_request'), null, 'fail'],
      [429, problem('too_many_requests'), '3', 'wait'],
      // Waiting does not help: the daemon says so by leaving Retry-After out.
      [429, problem('too_many_subscriptions'), null, 'fail'],
      [503, problem('starting'), '1', 'wait'],
      [503, problem('store_emptied'), null, 'fail'],
      [500, problem('internal_error'), null, 'fail'],
      [502, null, null, 'wait'],
      [404, null, null, 'fail'],
      [401, null, null, 'fail'],
    ] as const)
      assert.equal(judge(status, body, retryAfter, asked).kind, kind, `${status} ${body?.code ?? ''}`);
  });

  it('is said in the words of the daemon, with each wrong value', () => {
    const errors = [
      { path: 'states.0', message: 'must be an abbreviation' },
      { path: '', message: 'Leave it out.' },
    ];
    assert.equal(
      judge(422, problem('invalid_request', errors), null, asked).message,
      'Why and what to do. states.0: must be an abbreviation. Leave it out.',
    );
  });
});

describe('what a user enters', () => {
  it('is read with and without commas, and empty as nothing', () => {
    const input = { states: ['TX, CA', ' ', 'TX'], one: 'TX', none: [], text: ' a ', yes: 'true', no: false };
    assert.deepEqual(
      [
        readList(input, 'states'),
        readList(input, 'one'),
        readList(input, 'none'),
        readList(input, 'missing'),
      ],
      [['TX', 'CA'], ['TX'], undefined, undefined],
    );
    assert.deepEqual([readText(input, 'text'), readText(input, 'missing')], ['a', undefined]);
    assert.deepEqual(
      ['yes', 'no', 'missing'].map((key) => readFlag(input, key)),
      [true, false, false],
    );
  });

  it('is an address in any of its forms', () => {
    for (const [entered, base] of [
      ['https://filings.example.com', 'https://filings.example.com'],
      [' https://filings.example.com/ ', 'https://filings.example.com'],
      ['https://filings.example.com/v1', 'https://filings.example.com'],
      ['https://example.com/filings/docs', 'https://example.com/filings'],
      ['https://filings.example.com/?tab=1#top', 'https://filings.example.com'],
      ['http://localhost:3000/', 'http://localhost:3000'],
    ] as const) {
      const address = readAddress(entered);
      assert.equal('base' in address ? address.base : address.wrong, base);
    }
    for (const entered of [
      undefined,
      '',
      'filings',
      'ftp://filings.example.com',
      'http://127.0.0.1.example.com',
    ])
      assert.ok('wrong' in readAddress(entered), String(entered));
  });
});
