import { firstSnapshot } from '../../delivery/replay/replay.ts';
import { parseDeliveryState } from '../../subscriptions/delivery-state.ts';
import { isUnverified } from '../../subscriptions/options/verification.ts';
import {
  registrationsMax,
  subscriptionsMax,
  type CreateResult,
} from '../../subscriptions/store/subscription-store.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import { tokenOf } from '../access/auth.ts';
import type { Api, ApiDeps } from '../deps.ts';
import { wakeSoon } from './find.ts';
import { createInputCheck, dearBody, fingerprint, newSubscription, requireSound } from './input.ts';
import { idempotencyHeaders, registeredSchema, subscriptionInputSchema } from './schema.ts';
import { registeredView } from './view.ts';
import { readWarnings } from './warnings.ts';
import * as s from '../shared/schema.ts';
import { notFound, Problem } from '../shared/problem.ts';

/** The registration of subscriptions. */
export function addRegistrationRoute(app: Api, deps: ApiDeps): void {
  const { subscriptions, snapshot, now } = deps;
  const checkInput = createInputCheck(deps);
  app.post('/subscriptions', createSubscription, async (request, reply) => {
    await checkInput(request);
    const { body, log: logger } = request;
    const { account } = request.params;
    const key = request.headers['idempotency-key'];
    const asked = newSubscription(account, body, now(), tokenOf(request));
    requireSound(deps, null, asked, body.from);
    const known = body.from === 'state' ? await snapshot.known(account) : 0;
    const result = await subscriptions.create(
      asked,
      key === undefined ? null : { key, request: fingerprint(body) },
      { enabled: body.enabled, snapshot: body.from === 'state' ? firstSnapshot(known, now()) : null },
    );
    if (!('subscription' in result)) throw registrationProblem(result);
    const { subscription } = result;
    if (result.kind === 'replayed') void reply.header('idempotency-replayed', 'true');
    if (subscription.from !== 'now' || isUnverified(subscription)) await wakeSoon(deps, subscription, logger);
    void reply.code(201).header('location', `/v1/accounts/${account}/subscriptions/${subscription.id}`);
    const waiting = subscription.from === 'earliest' ? await waitingFromEarliest(deps, subscription) : known;
    const warnings = await readWarnings(deps, subscription);
    return { ...registeredView(subscription, waiting, body.enabled ?? true), warnings };
  });
}

async function waitingFromEarliest({ lags, log }: ApiDeps, subscription: Subscription): Promise<number> {
  const [oldest] = await log.outlineAfter(subscription.account, 0, 1);
  if (oldest === undefined) return 0;
  const delivery = parseDeliveryState({ cursor: String(oldest.position - 1) });
  const [lag = 0] = await lags(subscription.account, [{ filter: subscription, delivery }]);
  return lag;
}

const refusals = {
  key_reused: [
    'idempotency_key_reused',
    'Another request has used this Idempotency-Key within 24 hours. Use a new key for a new request.',
  ],
  full: ['too_many_subscriptions', `An account has at most ${subscriptionsMax} subscriptions: remove some.`],
  keys: [
    'account_quota_exceeded',
    `An account uses at most ${registrationsMax} idempotency keys in 24 hours: register without one, or wait.`,
  ],
} as const;

function registrationProblem({ kind }: Exclude<CreateResult, { readonly subscription: object }>): Problem {
  if (kind === 'gone') return notFound('account_not_found');
  const [code, detail] = refusals[kind];
  return new Problem(code, detail);
}

const createSubscription = s.operation({
  attachValidation: true,
  config: { dear: dearBody },
  operationId: 'createSubscription',
  summary: 'Register a subscription',
  description:
    'Answers the secret once. With an `Idempotency-Key` the request may be repeated when the answer was lost.',
  params: s.inAccount,
  headers: idempotencyHeaders,
  body: subscriptionInputSchema,
  response: {
    201: s.answer(registeredSchema, 'Registered, now or by the request that had this key first.', {
      location: 'Where it is.',
      'idempotency-replayed': '`true` when the key came before with the same request.',
    }),
    409: s.conflict,
  },
});
