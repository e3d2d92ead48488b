import { accountNotFound } from '../shared/not-found.ts';
import { Problem } from '../shared/problem.ts';
import {
  registrationsMax,
  subscriptionsMax,
  type CreateResult,
} from '../../subscriptions/store/subscription-store.ts';

/** The problem of a registration that nothing came of; pure. */
export function registrationProblem({
  kind,
}: Exclude<CreateResult, { readonly subscription: object }>): Problem {
  switch (kind) {
    case 'gone':
      return accountNotFound();
    case 'key_reused':
      return keyReused();
    case 'full':
      return tooManySubscriptions();
    case 'keys':
      return tooManyKeys();
  }
}

function tooManySubscriptions(): Problem {
  return new Problem(
    'too_many_subscriptions',
    `An account has at most ${subscriptionsMax} subscriptions: remove some.`,
  );
}

function tooManyKeys(): Problem {
  return new Problem(
    'account_quota_exceeded',
    `An account uses at most ${registrationsMax} idempotency keys in 24 hours: register without one, or wait.`,
  );
}

function keyReused(): Problem {
  return new Problem(
    'idempotency_key_reused',
    'Another request has used this Idempotency-Key within 24 hours. Use a new key for a new request.',
  );
}
