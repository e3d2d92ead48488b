import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** The address of a running daemon and a token for it. */
export interface DaemonApi {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
}

/** The receiver of all events of an account's filings. */
export interface Registration {
  readonly account: string;
  readonly url: string;
  /** `whsec_…`; the same on every start, so a restarted receiver can verify its callbacks. */
  readonly secret: string;
}

const retryMs = 500;

/**
 * Subscribes a receiver and returns the subscription's id. Waits for a daemon that is not up or not ready
 * yet, until the signal aborts. Registering the same receiver again within 24 hours returns the existing
 * subscription (Idempotency-Key). Rejects when the daemon refuses.
 */
export async function subscribe(
  api: DaemonApi,
  { account, url, secret }: Registration,
  signal: AbortSignal,
): Promise<string> {
  const body = { url, secret, description: 'demo receiver' };
  const key = createHash('sha256').update(JSON.stringify(body)).digest('hex');
  const path = `/v1/accounts/${encodeURIComponent(account)}/subscriptions`;
  const created = await callUntilAnswered(api, 'POST', path, body, { 'idempotency-key': key }, signal);
  return (created as { id: string }).id;
}

/** Creates or replaces an account; waits as `subscribe` does. */
export async function putAccount(
  api: DaemonApi,
  account: string,
  settings: { readonly baseUrl: string; readonly partnerKey: string; readonly pollIntervalMs: number },
  signal: AbortSignal,
): Promise<void> {
  const path = `/v1/accounts/${encodeURIComponent(account)}`;
  await callUntilAnswered(api, 'PUT', path, settings, {}, signal);
}

async function callUntilAnswered(
  api: DaemonApi,
  method: 'POST' | 'PUT',
  path: string,
  body: unknown,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<unknown> {
  for (;;) {
    const response = await fetch(`${api.url}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    }).catch(() => null);
    if (response?.ok) return await response.json().catch(() => null);
    if (response !== null && response.status < 500 && response.status !== 429) {
      throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    }
    await delay(retryMs, undefined, { signal });
  }
}
