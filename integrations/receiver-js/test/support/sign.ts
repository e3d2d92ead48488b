import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { Webhook } from 'standardwebhooks';

/** Secrets of two subscriptions, in the form that the daemon gives them. */
export const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
export const otherSecret = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;

/** A callback as it arrives: headers in lower case and the bytes of the body. */
export interface SignedCallback {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** What varies from one callback to the other. */
export interface SignOptions {
  readonly id?: string;
  readonly at?: number;
  readonly secrets?: readonly string[];
  readonly privateKeys?: readonly KeyObject[];
}

/** Signs a body as the daemon does, with libraries that share no code with the package: standardwebhooks and node:crypto. */
export function signed(body: string | object, options: SignOptions = {}): SignedCallback {
  const {
    id = newId(),
    at = Date.now(),
    secrets = options.privateKeys ? [] : [secret],
    privateKeys = [],
  } = options;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const seconds = Math.floor(at / 1000);
  const signatures = [
    ...secrets.map((each) => new Webhook(each).sign(id, new Date(seconds * 1000), text)),
    ...privateKeys.map(
      (key) => `v1a,${sign(null, Buffer.from(`${id}.${seconds}.${text}`), key).toString('base64')}`,
    ),
  ];
  return {
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatures.join(' '),
    },
    body: Buffer.from(text),
  };
}

/** A key pair as a subscription with v1a has it: `publicKey` is `whpk_…`, `jwk` an entry of a JWKS. */
export function newKeyPair(): { publicKey: string; privateKey: KeyObject; jwk: Record<string, unknown> } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' });
  const bytes = Buffer.from(String(jwk.x), 'base64url');
  return { publicKey: `whpk_${bytes.toString('base64')}`, privateKey, jwk: { ...jwk } };
}

/** An event about a filing with the fields that a receiver reads. */
export function filingEvent(sequence: number, fields: Record<string, unknown> = {}, type = 'filing.pending') {
  const data = { account: 'default', filingId: 'f_1', status: 'PENDING', sequence, ...fields };
  return { type, timestamp: '2026-11-21T10:00:03.120Z', data };
}

let ids = 0;

/** Another webhook-id at each call. */
export function newId(): string {
  ids += 1;
  return `evt_${String(ids).padStart(32, '0')}`;
}
