import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { requestOfAll } from '../../delivery/replay/replay.ts';
import { firstSnapshot } from '../../delivery/replay/replay.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import type { ReadSubscription, SubscriptionRecord } from '../../subscriptions/store/stored-subscription.ts';
import type { SubscriptionChange } from '../../subscriptions/store/subscription-store.ts';
import { currentOf, generateSecret, hasPublicKeys } from '../../subscriptions/signing-secret.ts';
import { isCalledOtherwise } from '../../subscriptions/subscription.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import { isUnverified, verificationErrors } from '../../subscriptions/options/verification.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { callerOf, seesReceivers } from '../access/auth.ts';
import type { Dear } from '../access/dear-requests.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { ownerOf, requireSeenTypes } from '../access/own-subscriptions.ts';
import { makerOf } from '../tokens.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import { requireSubscription, requireVerified } from './find.ts';
import { hideUrlPath } from '../../subscriptions/options/url.ts';
import { readWarnings } from '../warnings.ts';
import { leaveBehind, lostErrors, type LeftBehind } from './leave-behind.ts';
import { settingErrors } from '../../subscriptions/options/all-options.ts';
import { hideTokenPath } from '../../subscriptions/options/auth.ts';
import type { subscriptionSchema } from './schema.ts';
import { applyPatch, createInputCheck, fingerprint, newSubscription, requireSnapshots } from './input.ts';
import { registrationProblem } from './registration-problem.ts';
import {
  madeSecret,
  rotatedSecrets,
  secretErrors,
  showSignatures,
} from '../../subscriptions/options/signatures.ts';
import { certificatesIn } from '../../subscriptions/options/tls.ts';
import { replaySearchMs, startReplay, startSnapshot } from '../delivery/replays.ts';
import { changedView, registeredView, subscriptionView, whileHeld } from './view.ts';
import {
  createSubscription,
  listSubscriptions,
  getSubscription,
  updateSubscription,
  deleteSubscription,
  rotateSecret,
  resumeSubscription,
} from './operations.ts';
import { decodeCursor, encodeCursor, headersOnly, pageLimit } from '../shared/paging.ts';
import { notFound, Problem, refuseAny } from '../shared/problem.ts';

/** The subscriptions of an account. */
export function addSubscriptionRoutes(app: Api, deps: ApiDeps): void {
  const { subscriptions, snapshot, lags, now } = deps;
  const checkInput = createInputCheck(deps);

  app.post(
    '/subscriptions',
    { attachValidation: true, config: { dear: kindOfBody }, schema: createSubscription },
    async (request, reply) => {
      await checkInput(request);
      const { body, log: logger } = request;
      const { account } = request.params;
      const key = request.headers['idempotency-key'];
      const asked = newSubscription(account, body, now(), makerOf(request));
      requireSeenTypes(asked);
      requireSnapshots(asked, body.from);
      refuseAny(settingErrors(asked));
      refuseAny(verificationErrors(deps.verificationRule, null, asked));
      const known = body.from === 'state' ? await snapshot.known(account) : 0;
      const result = await subscriptions.create(
        asked,
        key === undefined ? null : { key, request: fingerprint(body) },
        { enabled: body.enabled, snapshot: body.from === 'state' ? firstSnapshot(known, now()) : null },
      );
      if (!('subscription' in result)) throw registrationProblem(result);
      const { subscription } = result;
      if (result.kind === 'replayed') void reply.header('idempotency-replayed', 'true');
      if (subscription.from !== 'now' || isUnverified(subscription))
        await wakeSoon(deps, subscription, logger);
      void reply.code(201).header('location', `/v1/accounts/${account}/subscriptions/${subscription.id}`);
      const waiting =
        subscription.from === 'earliest' ? await waitingFromEarliest(deps, subscription) : known;
      const warnings = await readWarnings(deps, subscription);
      return { ...registeredView(subscription, waiting, body.enabled ?? true), warnings };
    },
  );

  const listed = { config: { dear: 'scans' }, schema: listSubscriptions } as const;
  app.get('/subscriptions', listed, async (request, reply) => {
    const { account } = request.params;
    const { limit = pageLimit, cursor } = request.query;
    const after = decodeCursor('subscriptions', cursor);
    if (request.method === 'HEAD') return headersOnly(reply);
    const { subscriptions: found, next } = await subscriptions.list(account, after, limit, ownerOf(request));
    const page: ReadSubscription[] = [];
    for (const read of found)
      if (
        !isExpired(read.subscription, now()) ||
        !(await deps.hooks.endExpired(account, read.subscription.id))
      )
        page.push(read);
    const ids = page.map(({ subscription: { id } }) => id);
    const states = await subscriptions.deliveries(account, ids);
    const shown = page.map((read, i) => ({
      ...read,
      delivery: states[i] ?? parseDeliveryState({}),
      filter: read.subscription,
    }));
    const [lagOf, waitsFor] = await Promise.all([lags(account, shown), deps.waitsFor()]);
    return {
      items: shown.map((record, i) =>
        shownTo(request, whileHeld(subscriptionView(record, lagOf[i] ?? 0, now()), waitsFor)),
      ),
      nextCursor: next === null ? null : encodeCursor('subscriptions', next),
    };
  });

  app.get('/subscriptions/:id', { schema: getSubscription }, async (request) => {
    const { account, id } = request.params;
    const record = await requireSubscription(deps, account, id);
    return shownTo(request, await view(deps, record));
  });

  app.patch(
    '/subscriptions/:id',
    {
      attachValidation: true,
      config: { dear: kindOfChange },
      handlerTimeout: replaySearchMs,
      schema: updateSubscription,
    },
    async (request) => {
      await checkInput(request);
      const { account, id } = request.params;
      const { body, log: logger } = request;
      const newSecret = callerOf(request)?.kind === 'operator' ? null : generateSecret();
      let dropped: readonly LeftBehind[] = [];
      let made: string | null = null;
      const updated = await change(deps, account, id, (found) => {
        const complete = leaveBehind(found, body, newSecret);
        ({ dropped } = complete);
        refuseAny(lostErrors(found, complete.patch));
        const changed = applyPatch(found, complete.patch, now(), dropped.includes('publicKeys'));
        made = madeSecret(found.subscription, changed.subscription, body.secret);
        requireSnapshots(changed.subscription, body.from);
        requireSeenTypes(changed.subscription);
        refuseAny(settingErrors(changed.subscription));
        refuseAny(verificationErrors(deps.verificationRule, found.subscription, changed.subscription));
        return changed;
      });
      await wakeSoon(deps, updated.subscription, logger);
      const begun = await beginFrom(deps, updated, body.from);
      const shown = await view(deps, begun);
      const warnings = body.states === undefined ? [] : await readWarnings(deps, updated.subscription);
      return { ...changedView(shown, dropped, made), warnings };
    },
  );

  app.delete(
    '/subscriptions/:id',
    { schema: deleteSubscription },
    async ({ params: { account, id } }, reply) => {
      if (!(await subscriptions.remove(account, id))) throw notFound('subscription_not_found');
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/subscriptions/:id/rotate-secret',
    { config: { bodyOptional: true }, schema: rotateSecret },
    async ({ params: { account, id }, body: { secret, graceMs = 86_400_000 }, log: logger }) => {
      const at = now();
      const { subscription: rotated } = await change(deps, account, id, (found) => {
        const { subscription } = found;
        refuseAny(secretErrors(secret === undefined ? {} : { secret }, subscription));
        refuseAny(lostErrors(found, { secret: secret ?? '' }));
        const secrets = rotatedSecrets(subscription, secret, graceMs, at);
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

  app.post('/subscriptions/:id/resume', { schema: resumeSubscription }, async (request) => {
    const { account, id } = request.params;
    const resumed = await change(deps, account, id, ({ subscription, delivery }) => {
      requireVerified(subscription);
      if (!delivery.enabled || isExpired(subscription, now())) throw isDisabled();
      return { subscription, release: true };
    });
    await wakeSoon(deps, resumed.subscription, request.log);
    return view(deps, resumed);
  });
}

function isDisabled(): Problem {
  return new Problem(
    'subscription_disabled',
    'Enable the subscription with PATCH, "enabled": true, or give an expired one another "expiresAt".',
  );
}

// A change of `from` may replay the whole log.
function kindOfChange(request: FastifyRequest): Dear | null {
  const { from } = (request.body ?? {}) as { readonly from?: unknown };
  return from === 'earliest' ? 'scans' : kindOfBody(request);
}

// Number of certificates from which on the request is dear: a chain of a few is not.
const manyCertificates = 10;

function kindOfBody({ body }: FastifyRequest): Dear | null {
  return certificatesIn(body) >= manyCertificates ? 'bundles' : null;
}

async function change(
  { subscriptions }: ApiDeps,
  account: string,
  id: string,
  decide: (record: SubscriptionRecord) => SubscriptionChange,
): Promise<SubscriptionRecord> {
  const updated = await subscriptions.update(account, id, decide);
  if (updated === null) throw notFound('subscription_not_found');
  return updated;
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
  if (from === 'state') await startSnapshot(deps, account, id);
  if (from === former) return record;
  if (from === 'earliest') await startReplay(deps, account, id, requestOfAll);
  return change(deps, account, id, ({ subscription }) => ({
    subscription: { ...subscription, from },
    release: false,
  }));
}

async function view({ lags, now, waitsFor }: ApiDeps, record: SubscriptionRecord) {
  const { subscription, delivery } = record;
  const [[lag = 0], reasonFor] = await Promise.all([
    lags(subscription.account, [{ filter: subscription, delivery }]),
    waitsFor(),
  ]);
  return whileHeld(subscriptionView(record, lag, now()), reasonFor);
}

function shownTo<T extends Pick<Static<typeof subscriptionSchema>, 'url' | 'auth'>>(
  request: FastifyRequest,
  subscription: T,
): T {
  if (seesReceivers(request)) return subscription;
  return { ...subscription, url: hideUrlPath(subscription.url), auth: hideTokenPath(subscription.auth) };
}

async function waitingFromEarliest({ lags, log }: ApiDeps, subscription: Subscription): Promise<number> {
  const [oldest] = await log.outlineAfter(subscription.account, 0, 1);
  if (oldest === undefined) return 0;
  const delivery = parseDeliveryState({ cursor: String(oldest.position - 1) });
  const [lag = 0] = await lags(subscription.account, [{ filter: subscription, delivery }]);
  return lag;
}

/**
 * Wakes a subscription after a change of it. Failures are only logged: the change is stored, and the
 * account's polls repeat a lost wake-up.
 */
export async function wakeSoon(
  { hooks }: ApiDeps,
  { account, id }: Subscription,
  logger: { warn(line: object, message: string): void },
): Promise<void> {
  try {
    await hooks.wake(account, id);
  } catch (error) {
    logger.warn({ account, subscription: id, error: String(error) }, 'subscription.not_woken');
  }
}
