import type { PartnerClient } from '../../partner/partner-client.ts';
import { PartnerError } from '../../partner/partner-error.ts';
import { standingDoubt } from './doubt.ts';
import { doubtedFrom } from './doubt-policy.ts';

/** The account that the partner service names for the key. */
export interface SeenIdentity {
  /** False when there was no need to ask. */
  readonly asked: boolean;
  /** Null when the service named none, or did not answer. */
  readonly digest: string | null;
  /** The marks of the identity that a poll without a doubt keeps. */
  readonly earned: { readonly identity?: string; readonly identityAt?: number };
}

/** The facts that decide whether to ask, and whether the answer is the account's own. */
export interface IdentityInput {
  readonly account: { readonly sweepIntervalMs: number };
  readonly marks: {
    readonly baselined: boolean;
    readonly doubt: string;
    readonly identity: string;
    readonly identityAt: number;
  };
  readonly known: number;
  readonly startedAt: number;
  readonly signal: AbortSignal;
}

type IdentityClient = Pick<PartnerClient, 'checkAccount'>;

const notAsked: SeenIdentity = { asked: false, digest: null, earned: {} };

/**
 * Requests the account's identity from `GET /partner/me` when that is due: the first time, once in a sweep
 * interval, and in each poll while findings are doubted. If the service does not answer, the next request
 * waits until it is due again. Rejects only when the signal aborts.
 */
export async function askIdentity(
  client: IdentityClient,
  { account, marks, known, startedAt, signal }: IdentityInput,
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
export async function readIdentity(client: IdentityClient, signal: AbortSignal): Promise<string | null> {
  try {
    return await client.checkAccount(signal);
  } catch (error) {
    if (!(error instanceof PartnerError) || signal.aborted) throw error;
    // The lists are weighed without an identity.
    return null;
  }
}
