import { hash } from 'node:crypto';
import { Type } from 'typebox';
import { hasCurrentCopy } from '../../http/asset.ts';
import { onceForAll } from '../../memory/shared-work.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import { SealError } from '../../secrets/seal.ts';
import { toJwk } from '../../subscriptions/signing-secret.ts';
import { listedMax } from '../../subscriptions/public-keys.ts';
import type { PublicKey } from '../../subscriptions/signing-secret.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { subscriptionIdPattern } from '../shared/patterns.ts';
import { Problem } from '../shared/problem.ts';
import { openProblems, operation, optional, record, string } from '../shared/schema.ts';

/**
 * Seconds for which receivers may keep the keys; a rotation with a longer grace is noticed by none of them.
 */
const keysMaxAge = 300;

// Milliseconds for which the list of all keys is served again: it may read a thousand subscriptions.
const listMs = 1_000;
// RFC 7517 §8.5.2.
const keySetType = 'application/jwk-set+json';

/** The public keys of subscriptions. The answers say nothing of accounts, and not whose a key is. */
export function addPublicKeyRoutes(app: Api, { publicKeys }: Pick<ApiDeps, 'publicKeys'>): void {
  const all = onceForAll(async () => toKeySet(await publicKeys.all().catch(rethrowHidden)), listMs);

  async function ofSubscription(id: string): Promise<ReturnType<typeof toKeySet>> {
    const set = toKeySet(await publicKeys.of(id).catch(rethrowHidden));
    if (!set.isEmpty) return set;
    const detail = 'No subscription with this id is signed with v1a: look at its id and its signatures.';
    throw new Problem('subscription_not_found', detail);
  }

  app.get('/.well-known/webhook-keys', getPublicKeys, async (request, reply) => {
    const { subscription } = request.query;
    const { text, etag, isEmpty } = await (subscription === undefined ? all() : ofSubscription(subscription));
    void reply.headers({ etag, 'cache-control': isEmpty ? 'no-cache' : `public, max-age=${keysMaxAge}` });
    if (hasCurrentCopy(request.headers['if-none-match'], etag)) return reply.code(304).send(null);
    // The text is made once for all that ask.
    return reply.type(keySetType).send(text);
  });
}

function toKeySet(keys: readonly PublicKey[]) {
  const text = JSON.stringify({ keys: keys.map((key) => toJwk(key.text)) });
  return { text, etag: `W/"${hash('sha256', text, 'base64url').slice(0, 22)}"`, isEmpty: keys.length === 0 };
}

// The messages of these errors name accounts.
function rethrowHidden(error: unknown): never {
  if (!(error instanceof SealError) && toUnreadable(error) === null) throw error;
  const detail = 'Keys cannot be read now: keep those that you have. The operator finds why in the log.';
  throw new Problem('secret_unreadable', detail);
}

/** The public keys of subscriptions. */
const publicKeySetSchema = record(
  {
    keys: Type.Array(
      record({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        use: Type.Literal('sig'),
        alg: Type.Literal('EdDSA'),
        kid: string('Thumbprint of the key (RFC 7638).', {
          examples: ['kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k'],
        }),
        x: string('The 32 bytes of the public key in base64url.', {
          examples: ['11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
        }),
      }),
    ),
  },
  { $id: 'PublicKeySet', description: 'A JWK Set (RFC 7517) of ed25519 keys (RFC 8037).' },
);

const getPublicKeys = operation({
  operationId: 'getPublicKeys',
  summary: 'The public keys that verify `v1a` signatures, as a JWKS',
  description: `Needs no token. With \`subscription\` the keys that verify its callbacks now, newest first: what a receiver should ask for. Without it the keys of the ${listedMax} oldest subscriptions with \`v1a\`, without saying whose they are; a signature by one of them proves only that it is a callback of this daemon.`,
  querystring: record(
    optional({
      subscription: Type.String({ pattern: subscriptionIdPattern, description: 'Id of a subscription.' }),
    }),
  ),
  response: {
    200: {
      description: `The keys; they may be kept for ${keysMaxAge} seconds.`,
      headers: {
        etag: { type: 'string', description: 'For `If-None-Match`.' },
        'cache-control': { type: 'string', description: 'How long the keys may be kept.' },
      },
      content: { [keySetType]: { schema: Type.Unsafe<string>(publicKeySetSchema) } },
    },
    304: { type: 'null', description: 'The keys are still those of `If-None-Match`.' },
    ...openProblems(404, 422, 503),
  },
});
