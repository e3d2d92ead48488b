import { deepEqual, equal, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { identityOf, tls as option, tlsErrors, tlsOf } from '../../../src/subscriptions/options/tls.ts';
import type { FuzzTarget } from './fuzz.ts';

const fixture = (name: string) =>
  readFileSync(
    new URL(`../../integration/callbacks/fixtures/callback-test-${name}.pem`, import.meta.url),
    'utf8',
  );
const [cert, key] = [fixture('cert'), fixture('key')];
const now = Date.parse('2026-11-22T00:00:00.000Z');

/** Certificates and keys that clients send. */
export const tlsTargets: readonly FuzzTarget[] = [
  {
    name: 'certificates, keys and authorities',
    seeds: () => [
      `${cert}|${key}|`,
      `||${cert}`,
      `${cert}${cert}|${key}|x\n${cert}`,
      '|-----BEGIN PRIVATE KEY-----|',
      '||',
    ],
    run(input) {
      const [own = null, secret = null, ca = null] = input
        .toString()
        .split('|')
        .map((text) => (text === '' ? null : text));
      const tls = { cert: own, key: secret, ca };
      const errors = tlsErrors(tls, now);
      ok(errors.every(({ path, message }) => /^tls(\.|$)/.test(path) && message.length < 400));
      const line = secret?.split('\n')[1]?.trim() ?? '';
      if (line.length > 20 && !own?.includes(line) && !ca?.includes(line))
        ok(!JSON.stringify(errors).includes(line), 'a word of the key');
      if (errors.length > 0) return;
      const taken = tlsOf({ tls }).tls;
      if (taken == null) throw new Error('taken and not there');
      deepEqual(JSON.parse(JSON.stringify(taken)), taken, 'it can be stored');
      equal(identityOf(structuredClone(taken))?.digest, identityOf(taken)?.digest);
      ok(!JSON.stringify(option.show({ tls: taken })).includes('-----'));
    },
  },
];
