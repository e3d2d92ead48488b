import { defaultRejectionReason } from '../decisions.ts';

/** The filing types of the partner service. */
export const filingTypes = [
  'NEW_BUSINESS',
  'NEW_BUSINESS_RENEWAL',
  'ENDORSEMENT_ADDITIONAL',
  'ENDORSEMENT_RETURN',
] as const;

/** The statuses of the partner service (docs/partner.md#statuses). */
export const filingStatuses = ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED'] as const;

/** The payment methods that `create-filing` takes. */
export const paymentMethods = ['ACH', 'WIRE', 'CHECK', 'PENDING_INVOICE', 'INVOICED'] as const;

export type FilingType = (typeof filingTypes)[number];
export type FilingStatus = (typeof filingStatuses)[number];
type PaymentMethod = (typeof paymentMethods)[number];

/** A file of a filing, as the service returns it; times are ISO 8601. */
export interface UserFile {
  readonly id: string;
  readonly name: string;
  readonly fileName: string;
  readonly filePath: string;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/**
 * A filing exactly as the service returns it (docs/partner.md#single-filing). `status` is wider than
 * docs/partner.md#statuses because the control interface may set any. Optional input is echoed, `null` where
 * it was not given.
 */
export interface Filing {
  readonly id: string;
  readonly filingType: FilingType;
  readonly userId: string;
  readonly filingStateId: string;
  readonly filingState: { readonly id: string; readonly name: string; readonly stateAbbr: string };
  readonly policyNumber: string;
  readonly insuredsName: string;
  readonly carriersName: string;
  readonly policyEffectiveDate: string;
  readonly premium: number;
  readonly status: string;
  readonly userFiles: readonly UserFile[];
  readonly createdAt: string;
  readonly completedAt: string | null;
  readonly rejectionReason: string | null;
  readonly endorsementNumber: string | null;
  readonly endorsementEffectiveDate: string | null;
  readonly policyFee: number | null;
  readonly inspectionFee: number | null;
  readonly carriersFee: number | null;
  readonly lgtValue: number | null;
  readonly fmtValue: number | null;
  readonly declaredPaymentMethod: PaymentMethod | null;
  readonly userNotes: string | null;
}

/** The set of a state's requirements and rates, of two, that a filing type uses. */
export function pairOf(filingType: FilingType): 'nb' | 'ed' {
  return filingType === 'NEW_BUSINESS' || filingType === 'NEW_BUSINESS_RENEWAL' ? 'nb' : 'ed';
}

/** A calendar date `YYYY-MM-DD` as the timestamp that responses carry: midnight UTC. */
export function dateAsTimestamp(date: string): string {
  return `${date}T00:00:00.000Z`;
}

/** A new status; a given reason or time is used as it is, with any status. */
export interface StatusChange {
  readonly status: string;
  readonly rejectionReason?: string | null | undefined;
  /** ISO 8601. */
  readonly completedAt?: string | null | undefined;
}

/**
 * The filing in its new status. Only a COMPLETED filing keeps or gets a `completedAt` and only a REJECTED one
 * a `rejectionReason` (docs/partner.md#statuses); setting the same status again changes neither.
 */
export function withStatus(filing: Filing, change: StatusChange, nowMs: number): Filing {
  const { status } = change;
  const completedAt = status === 'COMPLETED' ? (filing.completedAt ?? new Date(nowMs).toISOString()) : null;
  const rejectionReason = status === 'REJECTED' ? (filing.rejectionReason ?? defaultRejectionReason) : null;
  return {
    ...filing,
    status,
    completedAt: change.completedAt === undefined ? completedAt : change.completedAt,
    rejectionReason: change.rejectionReason === undefined ? rejectionReason : change.rejectionReason,
  };
}
