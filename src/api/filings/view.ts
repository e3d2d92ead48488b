import type { Static } from 'typebox';
import type { ListedFiling } from '../../filings/filing-list-store.ts';
import type { filingSchema } from './schema.ts';

/** A filing as the API shows it; pure. */
export function filingView({ id, state, details }: ListedFiling): Static<typeof filingSchema> {
  return {
    filingId: id,
    status: state.status,
    since: new Date(state.since).toISOString(),
    completedAt: state.completedAt,
    rejectionReason: state.rejectionReason,
    sequence: state.sequence,
    removed: state.removed,
    policyNumber: details?.policyNumber ?? null,
    insuredsName: details?.insuredsName ?? null,
    stateAbbr: details?.stateAbbr ?? null,
    filingType: details?.filingType ?? null,
    premium: details?.premium ?? null,
  };
}
