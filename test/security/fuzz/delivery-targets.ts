import { deepEqual, equal, ok } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { validateHeaderName, validateHeaderValue } from 'node:http';
import { BlockList, isIP } from 'node:net';
import * as fc from 'fast-check';
import { parseHeaders, verifyCallback } from '../../../src/cli/events/verify-callback.ts';
import { cidrs } from '../../../src/config/value-parsers.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { checkCustomHeaders } from '../../../src/egress/header-policy.ts';
import { signedHeaders } from '../../../src/callbacks/sign.ts';
import { parseSecret } from '../../../src/subscriptions/signing-secret.ts';
import { checkCallbackUrl } from '../../../src/egress/url-policy.ts';
import type { FuzzTarget } from './fuzz.ts';

const policy = createEgressPolicy({ allowCidrs: [] });
const seed = 1;

// A second opinion on what no callback may reach, from Node's own lists, which know nothing of ipaddr.js.
const internal4 = listOf(
  '0.0.0.0/8,10.0.0.0/8,100.64.0.0/10,127.0.0.0/8,169.254.0.0/16,172.16.0.0/12,192.168.0.0/16,198.18.0.0/15,224.0.0.0/3,168.63.129.16/32',
);
const internal6 = listOf('::/3,4000::/2,8000::/1,2001::/23,2001:db8::/32,2002::/16,3fff::/20');
const mapped = listOf('::ffff:0:0/96');

const key = parseSecret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);
const nowMs = 1_800_000_000_000;
const body = Buffer.from('{"type":"ping","data":{}}');
const genuine = Object.entries(signedHeaders([key], 'evt_1', nowMs / 1000, body)).map((pair) =>
  pair.join(': '),
);

/** What subscribers name and send: addresses, headers, callbacks. */
export const deliveryTargets: readonly FuzzTarget[] = [
  {
    name: 'URL policy',
    seeds: () => [
      'https://hooks.example.com/a?b=c',
      'http://93.184.216.34:8443/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://[::ffff:7f00:1]/',
      'http://[64:ff9b::7f00:1]:443/x',
      'https://user:pw@example.com/#f',
      'http://１２７.0.0.1/',
      'http://localhost.localdomain/',
      ...fc.sample(fc.webUrl({ authoritySettings: { withIPv4Extended: true, withIPv6: true } }), {
        numRuns: 20,
        seed,
      }),
    ],
    run(input) {
      const text = input.toString();
      const checked = checkCallbackUrl(text, { allowHttp: true, policy });
      const closed = checkCallbackUrl(text, { allowHttp: false, policy });
      if (!checked.ok) return ok(!closed.ok && checked.problem.length < 200);
      const { url } = checked;
      equal(closed.ok, url.protocol === 'https:');
      deepEqual([url.username, url.password, url.hash], ['', '', '']);
      ok(
        ['http:', 'https:'].includes(url.protocol) && url.href.length <= 2_048 && !url.hostname.endsWith('.'),
      );
      const again = checkCallbackUrl(url.href, { allowHttp: true, policy });
      ok(again.ok && again.url.href === url.href, 'what is stored is judged alike before each callback');
      const host = url.hostname.replaceAll(/[[\]]/g, '');
      ok(!isInternal(host), 'no literal address of an internal network is taken');
      ok(!/(^|\.)localhost$|^metadata(\.goog|\.google\.internal)?$/.test(host));
    },
  },
  {
    name: 'egress policy',
    seeds: () => [
      '8.8.8.8 10.0.0.0/8',
      '10.1.2.3 10.0.0.0/8,::1/128',
      '2606:4700::1111 2606:4700::/32',
      '::ffff:8.8.8.8 ::ffff:0:0/96',
      'fe80::1%eth0 fe80::/10',
      ...fc
        .sample(fc.tuple(fc.oneof(fc.ipV4(), fc.ipV6()), fc.ipV4(), fc.integer({ min: 0, max: 32 })), {
          numRuns: 20,
          seed,
        })
        .map(([address, range, bits]) => `${address} ${range}/${bits}`),
    ],
    run(input) {
      const [address = '', ranges = ''] = input.toString().split(' ');
      const allowed = policy.isAllowed(address);
      ok(!allowed || (isIP(address) !== 0 && !isInternal(address)));
      const taken = cidrs(ranges);
      if (ranges === '' || !taken.ok) return;
      const wider = createEgressPolicy({ allowCidrs: taken.value });
      const isOpened = isIP(address) !== 0 && !address.includes('%') && isIn(taken.value, address);
      equal(wider.isAllowed(address), allowed || isOpened, 'exactly the ranges that were named are opened');
    },
  },
  {
    name: 'header policy',
    seeds: () => [
      '{"x-team":"filings","Authorization":"Bearer abc"}',
      ...['Host', 'WEBHOOK-ID', 'transfer_encoding', 'Proxy-Authorization', '__proto__'].map(
        (name) => `{"${name}":"a"}`,
      ),
      JSON.stringify(Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`x-${i}`, 'v'.repeat(400)]))),
      '{"x-a":" outer","X-A":"inner tab\\t."}',
      ...fc
        .sample(fc.dictionary(fc.string(), fc.string()), { numRuns: 10, seed })
        .map((one) => JSON.stringify(one)),
    ],
    run(input) {
      const headers = textsOf(input.toString());
      if (headers === null) return;
      const checked = checkCustomHeaders(headers);
      const backwards = Object.fromEntries(Object.entries(headers).toReversed());
      equal(checkCustomHeaders(backwards).ok, checked.ok);
      if (!checked.ok)
        return ok(
          checked.problems.length > 0 && checked.problems.every(({ message }) => message.length < 400),
        );
      const sent = new Headers(headers);
      equal([...sent].length, Object.keys(headers).length, 'one line for each');
      for (const [name, value] of Object.entries(headers)) {
        validateHeaderName(name);
        validateHeaderValue(name, value);
        equal(sent.get(name), value, 'it arrives as it was written');
        ok(!/^(host|content-length|transfer-encoding|connection|cookie|webhook-.*|proxy-.*)$/i.test(name));
      }
      ok(JSON.stringify(headers).length < 9_000);
    },
  },
  {
    name: 'callback verification',
    seeds: () => [
      '',
      'webhook-id: evt_2\n',
      'webhook-timestamp: 1\nwebhook-signature: v1,abc v1,\n',
      '< Webhook-Signature : v1a,x\n\n',
    ],
    run(input) {
      // Lines behind the genuine ones take their place.
      const headers = parseHeaders([...genuine, ...input.toString('latin1').split(/\r?\n/)]);
      const found = verifyCallback({ headers, body }, key, nowMs);
      const [id, sentAt, signatures = ''] = ['id', 'timestamp', 'signature'].map((name) =>
        headers.get(`webhook-${name}`),
      );
      const right = createHmac('sha256', key).update(`${id}.${sentAt}.`).update(body).digest('base64');
      const isFresh = Math.abs(Number(sentAt) - nowMs / 1000) <= 300;
      equal(found.ok, isFresh && signatures.split(' ').includes(`v1,${right}`));
      ok(found.ok || found.reason.length < 400);
    },
  },
];

function isInternal(host: string): boolean {
  return isIP(host) === 4 ? internal4.check(host) : isIP(host) === 6 && internal6.check(host, 'ipv6');
}

/** Whether an address is in one of the ranges of its own family; IPv4 written as IPv6 is in none. */
function isIn(ranges: readonly string[], address: string): boolean {
  const own = listOf(ranges.filter((range) => isIP(range.split('/')[0] ?? '') === isIP(address)).join(','));
  if (isIP(address) === 4) return own.check(address);
  return own.check(address, 'ipv6') && !mapped.check(address, 'ipv6');
}

function listOf(ranges: string): BlockList {
  const list = new BlockList();
  for (const range of ranges === '' ? [] : ranges.split(',')) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** The texts of a JSON object; null of anything else. */
function textsOf(text: string): Record<string, string> | null {
  try {
    const value: unknown = JSON.parse(text);
    const isOne = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isOne && Object.values(value).every((one) => typeof one === 'string')
      ? (value as Record<string, string>)
      : null;
  } catch {
    return null;
  }
}
