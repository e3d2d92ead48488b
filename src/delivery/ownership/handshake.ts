import type { CallbackResponse } from '../../callbacks/result.ts';

/** The answer of an endpoint to a request for permission: granted, with requests a minute; or why not. */
export type Permission =
  | { readonly granted: true; readonly allowedRate: number | null }
  | { readonly granted: false; readonly reason: string };

/**
 * The permission in the headers of a response to OPTIONS (CloudEvents, "HTTP 1.1 Web Hooks for Event
 * Delivery" §4.2). The origin must be named or be `*`; a status alone is no consent. A rate that is left out
 * bounds nothing.
 */
export function permissionIn(headers: CallbackResponse['headers'], origin: string): Permission {
  const allowed = textOf(headers['webhook-allowed-origin']);
  if (allowed === null) return refused('It answered OPTIONS without the header WebHook-Allowed-Origin.');
  if (allowed !== '*' && allowed.toLowerCase() !== origin.toLowerCase())
    return refused(`Its WebHook-Allowed-Origin is neither ${origin} nor *.`);
  const rate = textOf(headers['webhook-allowed-rate']);
  if (rate === null || rate === '*') return { granted: true, allowedRate: null };
  if (!/^[1-9]\d{0,8}$/.test(rate))
    return refused('Its WebHook-Allowed-Rate is neither a number of requests a minute nor *.');
  return { granted: true, allowedRate: Number(rate) };
}

/** The requests a minute that are asked for; none without a rate (events a second) of the subscription. */
export function requestedRate(rate: number | null | undefined): Readonly<Record<string, string>> {
  return rate == null ? {} : { 'webhook-request-rate': String(Math.max(1, Math.ceil(rate * 60))) };
}

function refused(reason: string): Permission {
  return { granted: false, reason };
}

function textOf(value: string | readonly string[] | undefined): string | null {
  return typeof value === 'string' ? value.trim() : null;
}
