import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { refusal } from '../dist/nodes/FilingWebhooks/signature.js';

const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
const body = Buffer.from('{"type":"filing.rejected","data":{"rejectionReason":"é"}}');
const now = Date.parse('2026-11-21T16:20:33.000Z');

function signed(at: number, by = secret): Record<string, string> {
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(at / 1000),
    'webhook-signature': new Webhook(by).sign('evt_1', new Date(at), body.toString()),
  };
}

test('what a Standard Webhooks library signs is genuine, within five minutes either way', () => {
  for (const at of [now, now - 300_000, now + 300_000])
    assert.equal(refusal(secret, signed(at), body, now), null);
  for (const at of [now - 301_000, now + 301_000])
    assert.match(String(refusal(secret, signed(at), body, now)), /five minutes/);
});

test('one genuine signature among several is enough, during a change of the secret', () => {
  const other = signed(now, `whsec_${Buffer.alloc(24, 9).toString('base64')}`)['webhook-signature'];
  const headers = {
    ...signed(now),
    'webhook-signature': `v1a,AAAA ${other} ${signed(now)['webhook-signature']}`,
  };
  assert.equal(refusal(secret, headers, body, now), null);
});

test('everything else is refused, with what is wrong', () => {
  const genuine = signed(now);
  const cases: [Record<string, string>, Buffer, string, RegExp][] = [
    [genuine, Buffer.from(`${body.toString()} `), secret, /no signature matches/],
    [{ ...genuine, 'webhook-id': 'evt_2' }, body, secret, /no signature matches/],
    [{ ...genuine, 'webhook-signature': 'v1,' }, body, secret, /no signature matches/],
    [{ ...genuine, 'webhook-signature': `v1,${'A'.repeat(500)}` }, body, secret, /no signature matches/],
    [{ ...genuine, 'webhook-signature': '' }, body, secret, /is missing/],
    [{}, body, secret, /is missing/],
    [{ ...genuine, 'webhook-timestamp': 'NaN' }, body, secret, /not a time/],
    [genuine, body, '', /publish the workflow anew/],
  ];
  for (const [headers, bytes, key, why] of cases)
    assert.match(String(refusal(key, headers, bytes, now)), why);
});
