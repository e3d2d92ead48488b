import { Type } from 'typebox';
import {
  idempotencyHeaders,
  secretSchema,
  subscriptionInputSchema,
  subscriptionListSchema,
  subscriptionParams,
  subscriptionPatchSchema,
} from './schema.ts';
import { publicKeysSchema } from '../../subscriptions/options/signatures.ts';
import * as s from '../shared/schema.ts';

/** Body of POST …/rotate-secret. */
const rotationInputSchema = s.record({
  secret: Type.Optional(secretSchema),
  graceMs: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 604_800_000,
      default: 86_400_000,
      description: 'How long callbacks are signed with the former secret and key as well.',
    }),
  ),
});

/** Response of POST …/rotate-secret. */
const rotationSchema = s.record(
  {
    secret: s.stringOrNull('Shown only now. Null with `v1a` alone.'),
    previousExpiresAt: s.timeOrNull(
      'Until then callbacks also carry the signatures of the former secret and key.',
    ),
    publicKeys: Type.Optional(publicKeysSchema),
  },
  { description: 'The new secret, and the public keys with the new one first.' },
);

const inAccount = Type.Object(s.accountParams);

/** Request and responses of POST /v1/accounts/{account}/subscriptions. */
export const createSubscription = {
  operationId: 'createSubscription',
  summary: 'Register a subscription',
  description:
    'Answers the secret once. With an `Idempotency-Key` the request may be repeated when the answer was lost.',
  params: inAccount,
  headers: idempotencyHeaders,
  body: subscriptionInputSchema,
  response: {
    201: s.answer('RegisteredSubscription', 'Registered, now or by the request that had this key first.', {
      location: 'Where it is.',
      'idempotency-replayed': '`true` when the key came before with the same request.',
    }),
    409: s.conflict,
  },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions. */
export const listSubscriptions = {
  operationId: 'listSubscriptions',
  summary: 'List subscriptions',
  description: "Oldest first, with the state of each one's delivery, and never with a secret.",
  params: inAccount,
  querystring: s.record(s.pageQuery),
  response: { 200: subscriptionListSchema },
};

/** Request and responses of GET /v1/accounts/{account}/subscriptions/{id}. */
export const getSubscription = {
  operationId: 'getSubscription',
  summary: 'A subscription and the state of its delivery',
  description: 'Never with a secret. `lag` counts the pending deliveries.',
  params: subscriptionParams,
  response: { 200: s.answer('Subscription', 'The subscription.') },
};

/** Request and responses of PATCH /v1/accounts/{account}/subscriptions/{id}. */
export const updateSubscription = {
  operationId: 'updateSubscription',
  summary: 'Change a subscription, or enable or disable it',
  description:
    'Fields that are left out stay as they are; null clears those that may be null; `headers`, `auth` and `tls` are replaced as a whole. A new `secret` ' +
    'counts at once and alone: rotate-secret gives receivers time. Another `url`, `headers`, `format`, `payload`, `auth`, `tls`, `verification` or signature, and enabling, forget how the ' +
    'endpoint did and try at once what waits; any other change keeps its pause, failures and next attempt. A `url` of another origin (scheme, host, port) ' +
    'drops `headers` that are not given anew; with the token of an account it also replaces a `secret` that is not given anew, and the `publicKeys`. `dropped` says so. ' +
    '`signatures` count from the answer on; a secret that is made for `v1` is in it.',
  params: subscriptionParams,
  body: subscriptionPatchSchema,
  response: {
    200: s.answer('ChangedSubscription', 'The subscription, and what it did not take along.'),
    409: s.conflict,
  },
};

/** Request and responses of DELETE /v1/accounts/{account}/subscriptions/{id}. */
export const deleteSubscription = {
  operationId: 'deleteSubscription',
  summary: 'Remove a subscription with its attempts and dead letters',
  description:
    'At once and for ever: pending deliveries are dropped, and a callback that is on its way may still arrive.',
  params: subscriptionParams,
  response: { 204: { type: 'null', description: 'Removed.' } },
};

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/rotate-secret. */
export const rotateSecret = {
  operationId: 'rotateSecret',
  summary: 'Sign with a new secret, for a while with the former one as well',
  description:
    'With `v1a` in `signatures` also, or only, with a new key of ed25519. Events that wait for their next attempt are tried at once.',
  params: subscriptionParams,
  body: rotationInputSchema,
  response: { 200: rotationSchema, 409: s.conflict },
};

/** Request and responses of POST /v1/accounts/{account}/subscriptions/{id}/resume. */
export const resumeSubscription = {
  operationId: 'resumeSubscription',
  summary: 'Try now what waits for the endpoint',
  description:
    'Ends the pause of an endpoint that is back, and makes retries due at once. Attempts that were made still count. A disabled subscription is enabled with PATCH instead.',
  params: subscriptionParams,
  response: {
    200: s.answer('Subscription', 'The subscription, whose events are tried now.'),
    409: s.conflict,
  },
};
