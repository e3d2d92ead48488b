import { randomBytes } from 'node:crypto';
import type { CallbackClient } from '../../callbacks/callback-client.ts';
import type { CallbackOutcome } from '../../callbacks/outcome.ts';
import { requestOrigin } from '../../callbacks/request-origin.ts';
import type { CallbackResult } from '../../callbacks/result.ts';
import { createCallbackSender, type SendCallbackDeps, type Sent } from '../../callbacks/send-callback.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import { answersChallenge, challengeBody, newChallenge } from './challenge.ts';
import { permissionIn, requestedRate, type Permission } from './handshake.ts';

/** One question to an endpoint whether it wants the callbacks, and its answer. */
export interface Asked {
  readonly permission: Permission;
  readonly outcome: CallbackOutcome;
  /** Null when there was no response. */
  readonly statusCode: number | null;
  readonly durationMs: number;
}

/**
 * Asks the endpoint of a subscription once, in the way that the subscription names. The request goes out as a
 * callback does: same addresses, connection, credentials and signature. It says nothing about a filing.
 * Rejects only once the client is closed. `eager` is as of `createCallbackSender`.
 */
export async function askEndpoint(
  deps: SendCallbackDeps,
  subscription: Subscription,
  eager = false,
): Promise<Asked> {
  return subscription.verification === 'cloudevents'
    ? askForPermission(deps, subscription, eager)
    : sendChallenge(deps, subscription, eager);
}

async function sendChallenge(
  deps: SendCallbackDeps,
  subscription: Subscription,
  eager: boolean,
): Promise<Asked> {
  const challenge = newChallenge();
  const body = challengeBody(subscription, challenge, deps.wallClock());
  const sent = await send(deps, subscription, body, eager);
  const permission = answersChallenge(sent.response ?? '', challenge)
    ? ({ granted: true, allowedRate: null } as const)
    : ({
        granted: false,
        reason: 'Its response is neither the challenge nor a JSON object with it as "challenge".',
      } as const);
  return judged(sent, permission);
}

async function askForPermission(
  deps: SendCallbackDeps,
  subscription: Subscription,
  eager: boolean,
): Promise<Asked> {
  const origin = requestOrigin(deps.publicUrl ?? null);
  if (origin === null) return judged(notAsked, notAsked.permission);
  const rate = requestedRate(subscription.rate);
  let result: CallbackResult | null = null;
  const client: CallbackClient = {
    ...deps.client,
    async post({ headers, ...request }) {
      const { 'content-type': _, ...others } = headers;
      result = await deps.client.post({ ...request, headers: { ...others, ...rate }, method: 'OPTIONS' });
      return result;
    },
  };
  const sent = await send({ ...deps, client }, subscription, '', eager);
  const headers = answeredHeaders(result);
  return judged(sent, permissionIn(headers, origin));
}

// The result is written by a closure, which the compiler does not follow.
function answeredHeaders(result: CallbackResult | null) {
  return result?.kind === 'response' ? result.headers : {};
}

function send(
  deps: SendCallbackDeps,
  subscription: Subscription,
  body: string,
  eager: boolean,
): Promise<Sent> {
  const plain = { ...subscription, format: 'standard', payload: 'full' } as const;
  const entry = { id: `evt_${randomBytes(16).toString('hex')}`, filingId: '', body: Buffer.from(body) };
  return createCallbackSender(deps, plain, eager)(entry);
}

// Permission counts only in a 2xx.
function judged(sent: Pick<Sent, 'outcome' | 'statusCode' | 'durationMs'>, permission: Permission): Asked {
  const { outcome, statusCode, durationMs } = sent;
  const refused = outcome.kind === 'delivered' ? null : outcome.reason;
  return {
    permission: refused === null ? permission : { granted: false, reason: refused },
    outcome,
    statusCode,
    durationMs,
  };
}

const notAsked = {
  outcome: {
    kind: 'retry',
    code: 'sender_error',
    sent: false,
    reason: 'The operator has to set PUBLIC_URL: its host is the origin that the endpoint is asked to allow.',
  },
  statusCode: null,
  durationMs: 0,
  permission: { granted: false, reason: '' },
} as const;
