// node node.mjs HEADERS_FILE BODY_FILE, with the public keys in WEBHOOK_PUBLIC_KEYS, separated by spaces
import { createPublicKey, verify as verifySignature } from 'node:crypto';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const TOLERANCE_SECONDS = 5 * 60;

/** Throws unless `body` (a Buffer, the bytes as received) was signed for one of `keys` just now. Header names are in lower case. */
function verify(keys, headers, body) {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const signatures = headers['webhook-signature'] ?? '';
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) throw new Error('a webhook header is missing or malformed');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new Error('the timestamp is more than five minutes away');
  }
  const content = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  // Only v1a counts: whoever learnt a secret could make a v1. During a rotation there are several.
  const given = signatures
    .split(' ')
    .filter((signature) => signature.startsWith('v1a,'))
    .map((signature) => Buffer.from(signature.slice('v1a,'.length), 'base64'));
  const matches = keys
    .map(readKey)
    .some((key) => given.some((signature) => verifySignature(null, content, key, signature)));
  if (!matches) throw new Error('no signature matches');
}

function readKey(text) {
  const bytes = Buffer.from(text.replace(/^whpk_/, ''), 'base64');
  if (bytes.length !== 32) throw new Error('a public key is not whpk_ and the base64 of 32 bytes');
  return createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
    format: 'jwk',
  });
}

function readHeaders(file) {
  const lines = readFileSync(file, 'latin1').split(/\r?\n/);
  return Object.fromEntries(
    lines
      .filter((line) => line.includes(':'))
      .map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 1).trim(),
      ]),
  );
}

const [headersFile, bodyFile] = process.argv.slice(2);
try {
  const keys = (process.env.WEBHOOK_PUBLIC_KEYS ?? '').split(' ').filter((text) => text !== '');
  verify(keys, readHeaders(headersFile), readFileSync(bodyFile));
  console.log('ok');
} catch (error) {
  console.error(`refused: ${error.message}`);
  process.exitCode = 1;
}
