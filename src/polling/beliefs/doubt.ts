import { orNull } from '../../json/or-null.ts';
import type { PartnerClient } from '../../partner/partner-client.ts';
import { PartnerError } from '../../partner/partner-error.ts';
import type { DoubtReason } from './weigh.ts';

/** Findings of a poll that are not believed, and therefore held back. */
export interface Doubt {
  readonly reason: DoubtReason;
  /**
   * Numbers of filings: known, known and shown by the lists, never seen before, known but answering 404, and
   * with another `completedAt` in the same status.
   */
  readonly known: number;
  readonly shown: number;
  readonly unknown: number;
  readonly gone: number;
  readonly moved: number;
  /** Digest of the account that `GET /partner/me` named; empty if that is not the reason. */
  readonly identity: string;
}

/** A doubt that was reported and is not over. */
export interface StandingDoubt extends Doubt {
  /** When it was reported, milliseconds on Redis's clock. */
  readonly since: number;
  /** The operator has accepted it: nothing is held back for this any more. */
  readonly accepted: boolean;
}

/** The doubt in an account's marks, or null if there is none. */
export function standingDoubt({ doubt }: { readonly doubt: string }): StandingDoubt | null {
  return doubt === '' ? null : orNull(() => JSON.parse(doubt) as StandingDoubt);
}

/** Whether something is held back now. */
export function isHeldBack(marks: { readonly doubt: string }): boolean {
  return standingDoubt(marks)?.accepted === false;
}

/** A doubt as it stands in the marks; equal ones encode equally. */
export function encodeDoubt({ since, accepted, ...doubt }: StandingDoubt): string {
  const { reason, known, shown, unknown, gone, moved, identity } = doubt;
  return JSON.stringify({ reason, known, shown, unknown, gone, moved, identity, since, accepted });
}

/** The doubt in words, for `lastError` and people. */
export function describeDoubt({ reason, known, shown, unknown, gone, moved }: Doubt): string {
  switch (reason) {
    case 'other_account':
      return 'doubtful: GET me answers with another account than before';
    case 'other_list':
      return `doubtful: the list shows ${shown} of ${known} known filings and ${unknown} unknown ones`;
    case 'unknown_wave':
      return `doubtful: the list shows ${unknown} unknown filings beside ${known} known ones`;
    case 'removal_wave':
      return `doubtful: ${gone} of ${known} known filings answer 404`;
    case 'completed_at_wave':
      return `doubtful: completedAt of ${moved} filings has changed without their status; the partner service may write times otherwise`;
  }
}

/**
 * Digest of the account that `GET /partner/me` names, or null if it names none or is not answered. Rejects
 * only if the signal aborts.
 */
export async function readIdentity(
  client: Pick<PartnerClient, 'checkAccount'>,
  signal: AbortSignal,
): Promise<string | null> {
  try {
    return await client.checkAccount(signal);
  } catch (error) {
    if (!(error instanceof PartnerError) || signal.aborted) throw error;
    // The lists are weighed without an identity.
    return null;
  }
}
