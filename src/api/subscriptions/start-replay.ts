import type { ReplayRequest } from '../../delivery/replay/replay.ts';
import { ReplayRefusedError } from '../../delivery/replay/start-replay.ts';
import type { ApiDeps } from '../deps.ts';
import { requireSubscription } from './find.ts';
import { subscriptionNotFound } from '../shared/not-found.ts';
import { Problem } from '../shared/problem.ts';

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
  return deps.hooks.replay(account, id, request).catch(refuse);
}

function refuse(error: unknown): never {
  if (!(error instanceof ReplayRefusedError)) throw error;
  throw error.reason === 'too_many' ? tooManyReplays() : subscriptionNotFound();
}

function tooManyReplays(): Problem {
  const detail = 'Wait until a replay of this subscription has finished.';
  return new Problem('too_many_replays', detail, { headers: { 'retry-after': '60' } });
}

/** Starts to send each filing as it is. Throws a Problem as `startReplay` does. */
export async function startSnapshot(
  { hooks }: Pick<ApiDeps, 'hooks'>,
  account: string,
  id: string,
): Promise<void> {
  await hooks.snapshot(account, id).catch(refuse);
}
