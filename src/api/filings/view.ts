import type { Static } from 'typebox';
import type { ListedFiling } from '../../filings/filing-list-store.ts';
import type { SeenMark } from '../../filings/seen/seen-mark.ts';
import type { filingSchema } from './schema.ts';

/** A filing as the API shows it; pure. */
export function filingView({ id, state, details, seen }: ListedFiling): Static<typeof filingSchema> {
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
    seen: seenView(seen),
  };
}

/** The note that a rejection was seen, as the API shows it; pure. */
function seenView(seen: SeenMark | null) {
  return seen === null ? null : { by: seen.by, note: seen.note, at: new Date(seen.at).toISOString() };
}
