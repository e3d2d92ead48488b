import { accountNotFound } from '../shared/not-found.ts';
import { listedMax, Problem } from '../shared/problem.ts';
import { checkCustomHeaders } from '../../egress/header-policy.ts';
import type { CreateResult } from '../../subscriptions/store/subscription-store.ts';
import { registrationsMax, subscriptionsMax } from '../../subscriptions/store/subscription-store.ts';
import { parseSecret } from '../../subscriptions/signing-secret.ts';

/** The text that responses show instead of a header's value: values are often credentials. */
export const maskedHeader = '***';

/** The problem with custom headers, null for valid ones and for what the schema refuses anyway; pure. */
export function headersProblem(value: unknown): string | null {
  if (
    typeof value !== 'object' ||
    value === null ||
    Object.values(value).some((text) => typeof text !== 'string')
  ) {
    return null; // the schema checks the type
  }
  const texts = value as Record<string, string>;
  const check = checkCustomHeaders(texts);
  const problems = check.ok ? [] : [...check.problems];
  if (Object.values(texts).includes(maskedHeader))
    problems.push(`${maskedHeader} only hides a value; give the value itself.`);
  return problems.length === 0 ? null : `are not valid: ${problems.slice(0, listedMax).join(' ')}`;
}

/** The problem with a signing secret, null for a valid one and for anything but text; pure. */
export function secretProblem(text: unknown): string | null {
  if (typeof text !== 'string') return null;
  try {
    parseSecret(text);
    return null;
  } catch {
    return 'must be whsec_ and the base64 of 24 to 64 bytes';
  }
}

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
