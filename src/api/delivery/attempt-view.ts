import type { AttemptDetail, AttemptRequest } from '../../delivery/attempts/attempt-detail.ts';
import type { ListedAttempt } from '../../delivery/store/delivery-records.ts';
import { hideUrlPath } from '../../subscriptions/options/url.ts';
import { maskedHeader } from '../../subscriptions/options/headers.ts';

/** The id of an attempt: it contains the subscription's, so an attempt can be found below the account. */
export function attemptId(id: string, subscription: string): string {
  return `att_${id}.${subscription}`;
}

/** The parts of an attempt's id. */
export function splitAttemptId(attempt: string): { id: string; subscription: string } {
  const [id = '', subscription = ''] = attempt.replace(/^att_/, '').split('.', 2);
  return { id, subscription };
}

/** An attempt as lists show it; without the response for those who may not see receivers; pure. */
export function attemptView(attempt: ListedAttempt, subscription: string, seesReceivers: boolean) {
  const { eventId, eventType, filingId, attempt: tries, outcome, statusCode, durationMs, response } = attempt;
  return {
    id: attemptId(attempt.id, subscription),
    subscription,
    eventId,
    eventType,
    filingId: filingId === '' ? null : filingId,
    attempt: tries,
    outcome,
    statusCode,
    durationMs,
    response: seesReceivers ? response : null,
    reason: attempt.reason ?? null,
    at: new Date(attempt.at).toISOString(),
    replay: attempt.replay === null ? null : `${attempt.replay}.${subscription}`,
  };
}

const missing = {
  not_kept: 'The request was not kept: DELIVERY_ATTEMPT_DETAILS is none, or nothing could be sent.',
  event_trimmed: 'The event is older than EVENT_RETENTION_MS and no longer in the log.',
} as const;

/**
 * An attempt in full, without secrets; for those who watch also without what gives access to the receiver;
 * pure.
 */
export function attemptDetailView(detail: AttemptDetail, subscription: string, seesReceivers: boolean) {
  const { attempt, request } = detail;
  const view = (each: ListedAttempt) => attemptView(each, subscription, seesReceivers);
  return {
    ...view(attempt),
    request: typeof request === 'string' ? null : requestView(attempt.eventId, request, seesReceivers),
    requestMissing: typeof request === 'string' ? missing[request] : null,
    responseHeaders: seesReceivers ? (attempt.headers ?? null) : null,
    earlier: detail.earlier.map(view),
    later: detail.later.map(view),
  };
}

function requestView(
  eventId: string,
  { url, contentType, timestamp, signature, names, body }: AttemptRequest,
  seesReceivers: boolean,
) {
  const headers = {
    ...Object.fromEntries(names.map((name) => [name, maskedHeader])),
    'content-type': contentType,
    'webhook-id': eventId,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': seesReceivers ? signature : maskedHeader,
  };
  return { url: seesReceivers ? url : hideUrlPath(url), headers, body };
}
