import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readText } from '../docs/documents.ts';

// A key serves one purpose. What needs another key than these derives it by HKDF, under a label of its own.
const keyOf: Readonly<Record<string, string>> = {
  'src/callbacks/sign.ts': 'a signing secret of a subscription: signs callbacks',
  'src/subscriptions/signing-secret.ts': 'the same, made and read',
  'src/subscriptions/options/tls.ts': 'the key of a client certificate: read to be judged',
  'src/secrets/seal.ts': 'ENCRYPTION_KEY: seals secrets',
  'src/accounts/session-store.ts': "derived from API_TOKEN by HKDF: digests of the operator's sessions",
  'src/demo/receiver.ts': 'derived from API_TOKEN by HKDF: the signing secret of the demo',
};
const keyed =
  /createHmac|create(Cipher|Decipher)iv|create(Secret|Private|Public)Key|generateKey|createSign|createVerify|hkdf|scrypt|pbkdf2|subtle/;

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => /\.[jt]s$/.test(path) && !path.includes('vendor'))
  .map((path) => `src/${path}`);

test('nothing but these files computes with a key', () => {
  expect(files.length).toBeGreaterThan(200);
  expect(files.filter((path) => keyed.test(readText(path))).toSorted()).toEqual(
    Object.keys(keyOf).toSorted(),
  );
});

test('the operator token is compared by its digest, and goes nowhere else in the daemon', () => {
  const daemon = files.filter((path) => !/^src\/(cli|demo)\//.test(path));
  expect(daemon.filter((path) => readText(path).includes('apiToken')).toSorted()).toEqual([
    'src/api/access/auth.ts',
    'src/api/deps.ts',
    'src/config/config.ts',
    'src/daemon/parts/api-deps.ts',
    'src/daemon/parts/stores.ts',
  ]);
  expect(readText('src/api/access/auth.ts').match(/apiToken/g)).toHaveLength(1);
});
