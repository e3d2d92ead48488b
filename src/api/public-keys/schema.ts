import { Type } from 'typebox';
import { record } from '../shared/schema.ts';

/** The public keys of subscriptions. */
export const publicKeySetSchema = record(
  {
    keys: Type.Array(
      record({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        use: Type.Literal('sig'),
        alg: Type.Literal('EdDSA'),
        kid: Type.String({
          description: 'Thumbprint of the key (RFC 7638).',
          examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'],
        }),
        x: Type.String({
          description: 'The 32 bytes of the public key in base64url.',
          examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
        }),
      }),
    ),
  },
  { $id: 'PublicKeySet', description: 'A JWK Set (RFC 7517) of ed25519 keys (RFC 8037).' },
);
