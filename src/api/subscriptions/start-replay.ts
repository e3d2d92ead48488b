import type { ReplayRequest } from '../../delivery/replay/replay.ts';
import { ReplayRefusedError } from '../../delivery/replay/start-replay.ts';
import type { ApiDeps } from '../deps.ts';
import { requireSubscription } from './find.ts';
import { subscriptionNotFound } from '../shared/not-found.ts';
import { Problem } from '../shared/problem.ts';

/** The replay without conditions: all events that are still in the log. */
export const everything: ReplayRequest = {
  after: null,
  before: null,
  eventTypes: null,
  filingId: null,
  deadLettersOnly: false,
};

/** Milliseconds that the start of a replay may take: it searches up to half a million events of the log. */
export const replaySearchMs = 60_000;

/**
 * Starts a replay of a subscription. Throws a Problem if there is no such subscription, or too many of its
 * replays wait.
 */
export async function startReplay(
  deps: Pick<ApiDeps, 'subscriptions' | 'hooks'>,
  account: string,
  id: string,
  request: ReplayRequest,
): Promise<{ id: string; matched: number }> {
  await requireSubscription(deps, account, id);
  try {
    return await deps.hooks.replay(account, id, request);
  } catch (error) {
    if (!(error instanceof ReplayRefusedError)) throw error;
    throw error.reason === 'too_many' ? tooManyReplays() : subscriptionNotFound();
  }
}

function tooManyReplays(): Problem {
  const detail = 'Wait until a replay of this subscription has finished.';
  return new Problem('too_many_replays', detail, { headers: { 'retry-after': '60' } });
}
