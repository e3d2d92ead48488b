import type { PartnerClient } from '../../partner/partner-client.ts';
import { PartnerError } from '../../partner/partner-error.ts';
import { standingDoubt } from './doubt.ts';
import { doubtedFrom } from './doubt-policy.ts';
import type { PollRunInput } from '../reads/poll-reads.ts';
import type { MarksUpdate } from '../store/marks.ts';

/** Who the partner service says the account is. */
export interface SeenIdentity {
  /** False when there was no need to ask. */
  readonly asked: boolean;
  /** Null when the service named nobody, or did not answer. */
  readonly digest: string | null;
  /** What a poll that is not doubted keeps of it. */
  readonly earned: MarksUpdate;
}

const notAsked: SeenIdentity = { asked: false, digest: null, earned: {} };

/**
 * Asks `GET /partner/me` who the account is, where that is due: the first time, once in a sweep interval, and
 * in each poll while findings are doubted. A service that does not answer it is asked again when it is due
 * again. Rejects only when the signal aborts.
 */
export async function askIdentity(
  client: Pick<PartnerClient, 'checkAccount'>,
  { account, marks, known, startedAt, signal }: PollRunInput,
): Promise<SeenIdentity> {
  const isDue = startedAt - marks.identityAt >= account.sweepIntervalMs || standingDoubt(marks) !== null;
  if (!isDue) return notAsked;
  const earned = { identityAt: startedAt };
  const digest = await readIdentity(client, signal);
  const isFirst = marks.identity === '' || !marks.baselined || known < doubtedFrom;
  return {
    asked: true,
    digest,
    earned: digest !== null && isFirst ? { ...earned, identity: digest } : earned,
  };
}

/**
 * Digest of the account that `GET /partner/me` names; null when it names none, or is not answered. Rejects
 * only when the signal aborts.
 */
export async function readIdentity(
  client: Pick<PartnerClient, 'checkAccount'>,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return await client.checkAccount(signal);
  } catch (error) {
    if (!(error instanceof PartnerError) || signal.aborted) throw error;
    // The lists are weighed without it.
    return null;
  }
}
