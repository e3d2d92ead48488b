import { stateAbbreviation } from '../../events/event.ts';
import { shortened } from '../../json/cut-text.ts';
import { epochMsOf } from '../../json/iso-time.ts';
import type { EffectiveDate } from './filing-state.ts';

/** The fields by which people recognise a filing; kept of filings that are in the index (`isInIndex`). */
export interface FilingDetails {
  readonly policyNumber: string | null;
  readonly insuredsName: string | null;
  readonly stateAbbr: string | null;
  readonly filingType: string | null;
  readonly premium: number | null;
  readonly carriersName: string | null;
  /** Timestamps as the partner service wrote them, and so below. */
  readonly createdAt: string | null;
  readonly policyEffectiveDate: string | null;
  /** Only for endorsements, and only if the service returns it. */
  readonly endorsementEffectiveDate: string | null;
  readonly endorsementNumber: string | null;
}

const textLengthMax = 200;

/**
 * The details in a filing's document (docs/partner.md#single-filing), or null without a document. Texts are
 * shortened to 200 characters.
 */
export function toDetails(document: Readonly<Record<string, unknown>> | null): FilingDetails | null {
  if (document === null) return null;
  const text = (key: string) => {
    const value = document[key];
    return typeof value === 'string' ? shortened(value, textLengthMax) : null;
  };
  return {
    policyNumber: text('policyNumber'),
    insuredsName: text('insuredsName'),
    stateAbbr: stateAbbreviation(document) || null,
    filingType: text('filingType'),
    premium: toNumber(document['premium']),
    carriersName: text('carriersName'),
    createdAt: text('createdAt'),
    policyEffectiveDate: text('policyEffectiveDate'),
    endorsementEffectiveDate: text('endorsementEffectiveDate'),
    endorsementNumber: text('endorsementNumber'),
  };
}

// The exact document holds numbers such as 1200.10 as raw JSON, not as a number.
function toNumber(value: unknown): number | null {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean')
    return null;
  const number = Number(JSON.stringify(value));
  return Number.isFinite(number) ? number : null;
}

// Milliseconds since the epoch of the first date that is believed; systems write earlier ones for none.
const firstMs = Date.UTC(1971);
const lastMs = Date.UTC(9999);

/**
 * The date from which a filing's deadline counts, in UTC: an endorsement's own if the service returns it,
 * otherwise the policy's. Null if it is not readable.
 */
export function effectiveDate(details: FilingDetails): EffectiveDate | null {
  const { filingType, policyEffectiveDate, endorsementEffectiveDate, stateAbbr } = details;
  const isEndorsement = /^ENDORSEMENT/i.test(filingType ?? '');
  const own = isEndorsement ? epochMsOf(endorsementEffectiveDate ?? '') : Number.NaN;
  const at = Number.isNaN(own) ? epochMsOf(policyEffectiveDate ?? '') : own;
  if (!(at >= firstMs && at < lastMs)) return null;
  const state = (stateAbbr ?? '').trim().toUpperCase();
  return { stateAbbr: /^[A-Z]{2}$/.test(state) ? state : '', at: Math.trunc(at) };
}
