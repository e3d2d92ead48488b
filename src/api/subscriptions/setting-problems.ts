import { accountNotFound } from '../shared/not-found.ts';
import { Problem } from '../shared/problem.ts';
import { checkCustomHeaders } from '../../egress/header-policy.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import type { CreateResult } from '../../subscriptions/store/subscription-store.ts';
import { registrationsMax, subscriptionsMax } from '../../subscriptions/store/subscription-store.ts';

/** The text that responses show instead of a header's value: values are often credentials. */
export const maskedHeader = '***';

// Maximum number of headers that are judged one by one.
const namesMax = 100;

/** Custom headers in a body that the schema may have refused, null where they are no map of texts; pure. */
export function textsOf(value: unknown): Readonly<Record<string, string>> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const texts = Object.values(value);
  const isMap = texts.length <= namesMax && texts.every((text) => typeof text === 'string');
  return isMap ? (value as Record<string, string>) : null;
}

/** What is wrong with custom headers, one error for each header; pure. No message repeats a value. */
export function headerErrors(headers: Readonly<Record<string, string>>): FieldError[] {
  const check = checkCustomHeaders(headers);
  const problems = check.ok ? [] : check.problems;
  const masked = Object.keys(headers)
    .filter((name) => headers[name] === maskedHeader && !problems.some((problem) => problem.name === name))
    .map((name) => ({
      name,
      message: `is ${maskedHeader}, which only hides a value; give the value itself`,
    }));
  return [...problems, ...masked].map(({ name, message }) => ({
    path: name === null ? 'headers' : `headers.${name}`,
    message,
  }));
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
