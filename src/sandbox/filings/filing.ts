import { defaultRejectionReason } from '../decisions.ts';
import type { FilingState } from './filing-states.ts';
import type { CreateFilingInput } from './input-schema.ts';

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

/**
 * A filing exactly as the service returns it (docs/partner.md#single-filing). `status` is wider than
 * docs/partner.md#statuses because the control interface may set any.
 */
export type Filing = Readonly<ReturnType<typeof newFiling>>;

/** The set of a state's requirements and rates, of two, that a filing type uses. */
export function pairOf(filingType: FilingType): 'nb' | 'ed' {
  return filingType === 'NEW_BUSINESS' || filingType === 'NEW_BUSINESS_RENEWAL' ? 'nb' : 'ed';
}

/**
 * The new filing, UNPAID, as it is returned and listed from then on. Optional input is echoed, or `null` if
 * it was not given; a calendar date `YYYY-MM-DD` becomes midnight UTC.
 */
export function newFiling(
  input: CreateFilingInput,
  state: FilingState,
  given: { readonly id: string; readonly owner: string; readonly createdAtMs: number },
) {
  const createdAt = new Date(given.createdAtMs).toISOString();
  return {
    id: given.id,
    filingType: input.filingType,
    userId: given.owner,
    filingStateId: state.id,
    filingState: { id: state.id, name: state.name, stateAbbr: state.stateAbbr },
    policyNumber: input.policyNumber,
    insuredsName: input.insuredsName,
    carriersName: input.carriersName,
    policyEffectiveDate: dateAsTimestamp(input.policyEffectiveDate),
    premium: input.premium,
    status: 'UNPAID' as string,
    userFiles: input.files.map(({ name, fileName, filePath }, index) => ({
      id: `file_${given.id}_${index + 1}`,
      name,
      fileName,
      filePath,
      createdAt,
      updatedAt: createdAt,
    })),
    createdAt,
    completedAt: null as string | null,
    rejectionReason: null as string | null,
    endorsementNumber: input.endorsementNumber ?? null,
    endorsementEffectiveDate:
      input.endorsementEffectiveDate === undefined ? null : dateAsTimestamp(input.endorsementEffectiveDate),
    policyFee: input.policyFee ?? null,
    inspectionFee: input.inspectionFee ?? null,
    carriersFee: input.carriersFee ?? null,
    lgtValue: input.lgtValue ?? null,
    fmtValue: input.fmtValue ?? null,
    declaredPaymentMethod: input.declaredPaymentMethod ?? null,
    userNotes: input.userNotes ?? null,
  };
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

function dateAsTimestamp(date: string): string {
  return `${date}T00:00:00.000Z`;
}
