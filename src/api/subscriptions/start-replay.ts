import { requestOfAll, type ReplayRequest } from '../../delivery/replay/replay.ts';
import { ReplayRefusedError } from '../../delivery/replay/replay.ts';
import type { ApiDeps } from '../deps.ts';
import { requireSubscription } from './find.ts';
import { subscriptionNotFound } from '../shared/not-found.ts';
import { invalidRequest, Problem } from '../shared/problem.ts';

/** Milliseconds that the start of a replay may take: it searches up to half a million events of the log. */
export const replaySearchMs = 60_000;

/**
 * Starts a replay of a subscription. Throws a Problem if there is no such subscription, too many of its
 * replays wait, or events that it names are not in the log, or of types for which `isSeen` is false.
 */
export function startReplay(
  deps: Pick<ApiDeps, 'subscriptions' | 'hooks' | 'now'>,
  account: string,
  id: string,
  request: ReplayRequest,
  isSeen?: (type: string) => boolean,
): Promise<{ id: string; matched: number }> {
  return orProblem(deps, account, id, request, () => deps.hooks.replay(account, id, request, isSeen));
}

/** Number of events that such a replay would deliver again; starts nothing. Throws as `startReplay`. */
export function countReplay(
  deps: Pick<ApiDeps, 'subscriptions' | 'hooks' | 'now'>,
  account: string,
  id: string,
  request: ReplayRequest,
  isSeen?: (type: string) => boolean,
): Promise<number> {
  return orProblem(deps, account, id, request, () => deps.hooks.replayCount(account, id, request, isSeen));
}

async function orProblem<T>(
  deps: Pick<ApiDeps, 'subscriptions' | 'hooks' | 'now'>,
  account: string,
  id: string,
  request: ReplayRequest,
  work: () => Promise<T>,
): Promise<T> {
  await requireSubscription(deps, account, id);
  try {
    return await work();
  } catch (error) {
    throw error instanceof ReplayRefusedError ? problemOf(error, request) : error;
  }
}

function problemOf({ reason, eventIds: ids }: ReplayRefusedError, request: ReplayRequest): Problem {
  if (reason === 'no_subscription') return subscriptionNotFound();
  if (reason === 'too_many') {
    const detail = 'Wait until a replay of this subscription has finished.';
    return new Problem('too_many_replays', detail, { headers: { 'retry-after': '60' } });
  }
  const { eventIds = [], filingId } = request;
  const unknown =
    filingId === null ? 'no event in the log of this account' : 'no event of the filing in filingId';
  const text = {
    unknown_events: unknown,
    log_too_long: 'not among the newest half a million events; give filingId with the filing of the events',
  }[reason];
  return invalidRequest(
    ids.map((id) => ({ path: `eventIds.${eventIds.indexOf(id)}`, message: `${id} is ${text}` })),
  );
}

/** Starts to send each filing as it is. Throws a Problem as `startReplay` does. */
export async function startSnapshot(
  { hooks }: Pick<ApiDeps, 'hooks'>,
  account: string,
  id: string,
): Promise<void> {
  try {
    await hooks.snapshot(account, id);
  } catch (error) {
    throw error instanceof ReplayRefusedError ? problemOf(error, requestOfAll) : error;
  }
}
