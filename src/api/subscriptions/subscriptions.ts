import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { requestOfAll } from '../../delivery/replay/replay.ts';
import { isMailUrl } from '../../egress/mail-address.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import {
  madeSecret,
  publicKeysSchema,
  secretErrors,
  showSignatures,
} from '../../subscriptions/options/signatures.ts';
import {
  currentOf,
  generateSecret,
  hasPublicKeys,
  renewSecrets,
  signaturesOf,
} from '../../subscriptions/signing-secret.ts';
import type { SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import { isCalledOtherwise, type Subscription } from '../../subscriptions/subscription.ts';
import { tokenOf } from '../access/auth.ts';
import type { Dear } from '../access/dear-requests.ts';
import { ownerOf } from '../access/own-subscriptions.ts';
import { orProblem, replaySearchMs } from '../delivery/replays.ts';
import type { Api, ApiDeps } from '../deps.ts';
import * as s from '../shared/schema.ts';
import { changeSubscription, requireSubscription, requireVerified, wakeSoon } from './find.ts';
import { applyPatch, createInputCheck, dearBody, requireSound } from './input.ts';
import { leaveBehind, type LeftBehind, lostErrors } from './leave-behind.ts';
import {
  changedSchema,
  secretSchema,
  subscriptionParams,
  subscriptionPatchSchema,
  subscriptionSchema,
} from './schema.ts';
import { showSubscriptions } from './view.ts';
import { readWarnings } from './warnings.ts';
import { sendPage } from '../shared/paging.ts';
import { notFound, Problem, refuseAny } from '../shared/problem.ts';

/** The subscriptions of an account, once they are registered. */
export function addSubscriptionRoutes(app: Api, deps: ApiDeps): void {
  const { subscriptions, hooks, now } = deps;
  app.get('/subscriptions', listSubscriptions, async (request, reply) =>
    sendPage(request, reply, 'subscriptions', async (after, limit) => {
      const { account } = request.params;
      const { records, next } = await subscriptions.list(account, after, limit, ownerOf(request));
      const page = [];
      for (const record of records) {
        const { subscription } = record;
        if (!isExpired(subscription, now()) || !(await hooks.endExpired(account, subscription.id)))
          page.push(record);
      }
      return { items: await showSubscriptions(deps, request, page), next };
    }),
  );

  app.get('/subscriptions/:id', getSubscription, async (request) => {
    const { account, id } = request.params;
    return view(deps, request, await requireSubscription(deps, account, id));
  });

  app.delete('/subscriptions/:id', deleteSubscription, async ({ params: { account, id } }, reply) => {
    if (!(await subscriptions.remove(account, id))) throw notFound('subscription_not_found');
    return reply.code(204).send(null);
  });

  app.post('/subscriptions/:id/resume', resumeSubscription, async (request) => {
    const { account, id } = request.params;
    const resumed = await changeSubscription(deps, account, id, ({ subscription, delivery }) => {
      requireVerified(subscription);
      if (!delivery.enabled || isExpired(subscription, now()))
        throw new Problem(
          'subscription_disabled',
          'Enable the subscription with PATCH, "enabled": true, or give an expired one another "expiresAt".',
        );
      return { subscription, release: true };
    });
    await wakeSoon(deps, resumed.subscription, request.log);
    return view(deps, request, resumed);
  });

  addChange(app, deps);
  addSecretRotation(app, deps);
}

async function view(deps: ApiDeps, request: FastifyRequest, record: SubscriptionRecord) {
  const [shown] = await showSubscriptions(deps, request, [record]);
  if (shown === undefined) throw notFound('subscription_not_found');
  return shown;
}

// The change of a subscription.
function addChange(app: Api, deps: ApiDeps): void {
  const checkInput = createInputCheck(deps);
  app.patch('/subscriptions/:id', updateSubscription, async (request) => {
    await checkInput(request);
    const { account, id } = request.params;
    const { body, log: logger } = request;
    const newSecret = tokenOf(request) === null ? null : generateSecret();
    let dropped: readonly LeftBehind[] = [];
    let made: string | null = null;
    const updated = await changeSubscription(deps, account, id, (found) => {
      const complete = leaveBehind(found, body, newSecret);
      ({ dropped } = complete);
      refuseAny(lostErrors(found, complete.patch));
      const changed = applyPatch(found, complete.patch, deps.now(), dropped.includes('publicKeys'));
      made = madeSecret(found.subscription, changed.subscription, body.secret);
      requireSound(deps, found.subscription, changed.subscription, body.from);
      return changed;
    });
    await wakeSoon(deps, updated.subscription, logger);
    const shown = await view(deps, request, await beginFrom(deps, updated, body.from));
    const warnings = body.states === undefined ? [] : await readWarnings(deps, updated.subscription);
    return {
      ...shown,
      ...(dropped.length === 0 ? {} : { dropped: [...dropped] }),
      ...(made === null ? {} : { secret: made }),
      warnings,
    };
  });
}

// The rotation of what a subscription is signed with.
function addSecretRotation(app: Api, deps: ApiDeps): void {
  app.post(
    '/subscriptions/:id/rotate-secret',
    rotateSecret,
    async ({ params: { account, id }, body: { secret, graceMs = 86_400_000 }, log: logger }) => {
      const at = deps.now();
      const { subscription: rotated } = await changeSubscription(deps, account, id, (found) => {
        const { subscription } = found;
        refuseAny(isMailUrl(subscription.url) ? secretErrors({ secret: '' }, subscription) : []);
        refuseAny(secretErrors(secret === undefined ? {} : { secret }, subscription));
        refuseAny(lostErrors(found, { secret: secret ?? '' }));
        const versions = signaturesOf(subscription);
        const renewal = { versions, secret, renewed: versions, graceMs };
        const secrets = renewSecrets(subscription.secrets, renewal, at);
        const changed = { ...subscription, secrets, updatedAt: at };
        return { subscription: changed, release: isCalledOtherwise(subscription, changed) };
      });
      await wakeSoon(deps, rotated, logger);
      return {
        secret: currentOf(rotated.secrets, 'v1'),
        previousExpiresAt: graceMs === 0 ? null : isoOrNull(at + graceMs),
        ...(hasPublicKeys(rotated) ? { publicKeys: showSignatures(rotated).publicKeys } : {}),
      };
    },
  );
}

// A change of `from` may replay the whole log.
function kindOfChange(request: FastifyRequest): Dear | null {
  const { from } = (request.body ?? {}) as { readonly from?: unknown };
  return from === 'earliest' ? 'scans' : dearBody(request);
}

/**
 * Moves the beginning of a subscription. A change to `earliest` replays the log, and `state` sends each
 * filing as it is, whatever the beginning was. The field is stored once that has begun, so a request repeated
 * after a failure carries out the whole change.
 */
async function beginFrom(
  deps: ApiDeps,
  record: SubscriptionRecord,
  from: Subscription['from'],
): Promise<SubscriptionRecord> {
  const { account, id, from: former = 'now' } = record.subscription;
  if (from === undefined) return record;
  if (from === 'state') await orProblem(deps.replayer.snapshot(account, id));
  if (from === former) return record;
  if (from === 'earliest') await orProblem(deps.replayer.start(account, id, requestOfAll));
  return changeSubscription(deps, account, id, ({ subscription }) => ({
    subscription: { ...subscription, from },
    release: false,
  }));
}

/** Body of POST …/rotate-secret. */
const rotationInputSchema = s.record(
  s.optional({
    secret: secretSchema,
    graceMs: Type.Integer({
      minimum: 0,
      maximum: 604_800_000,
      default: 86_400_000,
      description: 'How long callbacks are signed with the former secret and key as well.',
    }),
  }),
);

/** Response of POST …/rotate-secret. */
export const rotationSchema = s.described('The new secret, and the public keys with the new one first.', {
  secret: s.stringOrNull('Shown only now. Null with `v1a` alone.'),
  previousExpiresAt: s.timeOrNull(
    'Until then callbacks also carry the signatures of the former secret and key.',
  ),
  publicKeys: Type.Optional(publicKeysSchema),
});

const listSubscriptions = s.operation({
  config: { dear: 'scans' },
  operationId: 'listSubscriptions',
  summary: 'List subscriptions',
  description: "Oldest first, with the state of each one's delivery, and never with a secret.",
  params: s.inAccount,
  querystring: s.record(s.pageQuery),
  response: { 200: s.listOf(subscriptionSchema, 'Subscriptions, oldest first.') },
});

const getSubscription = s.operation({
  operationId: 'getSubscription',
  summary: 'A subscription and the state of its delivery',
  description: 'Never with a secret. `lag` counts the pending deliveries.',
  params: subscriptionParams,
  response: { 200: s.answer(subscriptionSchema, 'The subscription.') },
});

const updateSubscription = s.operation({
  attachValidation: true,
  config: { dear: kindOfChange },
  handlerTimeout: replaySearchMs,
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
    200: s.answer(changedSchema, 'The subscription, and what it did not take along.'),
    409: s.conflict,
  },
});

const deleteSubscription = s.operation({
  operationId: 'deleteSubscription',
  summary: 'Remove a subscription with its attempts and dead letters',
  description:
    'At once and for ever: pending deliveries are dropped, and a callback that is on its way may still arrive.',
  params: subscriptionParams,
  response: { 204: { type: 'null', description: 'Removed.' } },
});

const rotateSecret = s.operation({
  config: { bodyOptional: true },
  operationId: 'rotateSecret',
  summary: 'Sign with a new secret, for a while with the former one as well',
  description:
    'With `v1a` in `signatures` also, or only, with a new key of ed25519. Events that wait for their next attempt are tried at once.',
  params: subscriptionParams,
  body: rotationInputSchema,
  response: { 200: rotationSchema, 409: s.conflict },
});

const resumeSubscription = s.operation({
  operationId: 'resumeSubscription',
  summary: 'Try now what waits for the endpoint',
  description:
    'Ends the pause of an endpoint that is back, and makes retries due at once. Attempts that were made still count. A disabled subscription is enabled with PATCH instead.',
  params: subscriptionParams,
  response: {
    200: s.answer(subscriptionSchema, 'The subscription, whose events are tried now.'),
    409: s.conflict,
  },
});
