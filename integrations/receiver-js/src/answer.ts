import type { CallbackError } from './errors.ts';

/** How a request is to be answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Null for none. */
  readonly body: string | null;
  /** `ignored` is an event of an unknown type without `handleUnknown`; `confirmed` an answered challenge; `error` says more of `refused`. */
  readonly outcome: 'handled' | 'repeated' | 'stale' | 'ignored' | 'confirmed' | 'refused';
  /** Null unless `refused`. */
  readonly error: CallbackError | null;
}

/** An acknowledgement. */
export function done(outcome: 'handled' | 'repeated' | 'stale' | 'ignored'): Answer {
  return { status: 204, headers: {}, body: null, outcome, error: null };
}

/** An answer with a body. */
export function json(status: number, body: unknown, outcome: Answer['outcome']): Answer {
  const headers = { 'content-type': 'application/json' };
  return { status, headers, body: JSON.stringify(body), outcome, error: null };
}

/** The answer to what was not handled: what is wrong, and what to do. */
export function refuse(error: CallbackError): Answer {
  const { code, status, message, retryAfterSeconds } = error;
  const answer = json(status, { error: code, detail: message }, 'refused');
  const headers = {
    ...answer.headers,
    ...(retryAfterSeconds === null ? {} : { 'retry-after': String(retryAfterSeconds) }),
    ...(status === 405 ? { allow: 'POST' } : {}),
  };
  return { ...answer, headers, error };
}
