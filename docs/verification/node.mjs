// node node.mjs HEADERS_FILE BODY_FILE, with the secret in WEBHOOK_SECRET
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import process from 'node:process';

const TOLERANCE_SECONDS = 5 * 60;

/** Throws unless `body` (a Buffer, the bytes as received) was signed with `secret` just now. Header names are in lower case. */
function verify(secret, headers, body) {
  const id = headers['webhook-id'] ?? '';
  const timestamp = headers['webhook-timestamp'] ?? '';
  const signatures = headers['webhook-signature'] ?? '';
  if (id === '' || !/^\d{1,12}$/.test(timestamp)) throw new Error('a webhook header is missing or malformed');
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    throw new Error('the timestamp is more than five minutes away');
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  if (key.length < 24) throw new Error('the secret is not whsec_ and base64');
  const digest = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const expected = Buffer.from(`v1,${digest}`);
  // During a rotation there are several signatures, one for each secret.
  const matches = signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
  if (!matches) throw new Error('no signature matches');
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
  verify(process.env.WEBHOOK_SECRET ?? '', readHeaders(headersFile), readFileSync(bodyFile));
  console.log('ok');
} catch (error) {
  console.error(`refused: ${error.message}`);
  process.exitCode = 1;
}
