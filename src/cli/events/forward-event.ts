import type { KeyObject } from 'node:crypto';
import packageJson from '../../../package.json' with { type: 'json' };
import { signedHeaders } from '../../callbacks/sign.ts';
import { callbackBody, type FollowedEvent } from './follow-events.ts';

/** The response of a local receiver to an event. */
export type Forwarded =
  | { readonly kind: 'answered'; readonly status: number; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly reason: string };

const timeoutMs = 15_000;

/**
 * Posts an event as the daemon would post it (docs/webhooks.md), signed now with the key. A redirect is a
 * response like any other.
 */
export async function forwardEvent(
  event: FollowedEvent,
  to: string,
  key: KeyObject,
  signal: AbortSignal,
): Promise<Forwarded> {
  const body = Buffer.from(callbackBody(event));
  const startedAt = performance.now();
  try {
    const response = await fetch(to, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `filing-webhooks/${packageJson.version}`,
        ...signedHeaders([key], event.id, Math.floor(Date.now() / 1000), body),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return {
      kind: 'answered',
      status: response.status,
      durationMs: Math.round(performance.now() - startedAt),
    };
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} seconds`;
  return cause?.code === 'ECONNREFUSED' ? 'nothing listens there' : (cause?.message ?? message);
}
