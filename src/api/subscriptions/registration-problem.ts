import {
  registrationsMax,
  subscriptionsMax,
  type CreateResult,
} from '../../subscriptions/store/subscription-store.ts';
import { notFound, Problem } from '../shared/problem.ts';

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

/** The problem of a registration that nothing came of; pure. */
export function registrationProblem({
  kind,
}: Exclude<CreateResult, { readonly subscription: object }>): Problem {
  if (kind === 'gone') return notFound('account_not_found');
  const [code, detail] = refusals[kind];
  return new Problem(code, detail);
}
