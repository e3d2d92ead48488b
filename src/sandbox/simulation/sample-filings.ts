import { documentsFor, type FilingState } from '../filings/filing-states.ts';
import { filingTypes, newFiling, pairOf, withStatus } from '../filings/filing.ts';
import type { Filing, FilingStatus, FilingType } from '../filings/filing.ts';
import { type CreateFilingInput } from '../filings/input-schema.ts';
import { hexDigits, pick, pickWeighted, wholeNumber, type Random } from '../random.ts';
import { type FilingStore } from '../filings/filing-store.ts';

/** The given parts of a sample filing; all others are drawn at random. `states` may not be empty. */
export interface SampleRequest {
  readonly id: string;
  readonly owner: string;
  readonly states: readonly FilingState[];
  readonly status: string;
  readonly createdAtMs: number;
  readonly nowMs: number;
}

const dayMs = 86_400_000;
const settledSpanDays = 540;
const unsettledSpanDays = 10;

// The weights of an account in use for a while: nearly all filings are settled.
const statusWeights: readonly (readonly [FilingStatus, number])[] = [
  ['COMPLETED', 88],
  ['REJECTED', 4],
  ['PENDING', 4],
  ['PAID', 2],
  ['UNPAID', 2],
];

const typeWeights: readonly (readonly [FilingType, number])[] = filingTypes.map((type, index) => [
  type,
  [50, 30, 14, 6][index] ?? 1,
]);

/** A random status as in a real account: mostly COMPLETED, some in each of the others. */
export function sampleStatus(random: Random): FilingStatus {
  return pickWeighted(random, statusWeights);
}

/**
 * A plausible creation time for a filing of that status: within 18 months before now for settled ones, within
 * ten days for others.
 */
export function sampleCreation(random: Random, status: string, nowMs: number): number {
  const settled = status === 'COMPLETED' || status === 'REJECTED';
  const spanMs = (settled ? settledSpanDays : unsettledSpanDays) * dayMs;
  return nowMs - Math.floor(random() * spanMs);
}

/** A rejection reason as states give them. */
export function sampleRejectionReason(random: Random): string {
  return pick(random, rejectionReasons);
}

/**
 * A filing as a partner might have submitted it: names, premium, dates and one file for each required
 * document.
 */
export function sampleFiling(random: Random, request: SampleRequest): Filing {
  const { id, owner, createdAtMs, nowMs, status } = request;
  const state = pick(random, request.states);
  const submitted = newFiling(sampleInput(random, state, request), state, { id, owner, createdAtMs });
  return withStatus(submitted, sampleSettlement(random, status, createdAtMs, nowMs), nowMs);
}

function sampleInput(
  random: Random,
  state: FilingState,
  { id, owner, createdAtMs }: SampleRequest,
): CreateFilingInput {
  const filingType = pickWeighted(random, typeWeights);
  const policyDate = sampleDate(random, createdAtMs);
  return {
    filingType,
    filingStateId: state.id,
    policyNumber: `SL-${state.stateAbbr}-${wholeNumber(random, 1_000_000, 9_999_999)}`,
    insuredsName: `${pick(random, insuredFirstWords)} ${pick(random, insuredSecondWords)} ${pick(random, companyForms)}`,
    carriersName: pick(random, carriers),
    policyEffectiveDate: policyDate,
    premium: wholeNumber(random, 50_000, 25_000_000) / 100,
    files: documentsFor(state, filingType).map(({ name }) => {
      const fileName = `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.pdf`;
      return { name, fileName, filePath: `uploads/${owner}/${id}/${fileName}` };
    }),
    ...(pairOf(filingType) === 'ed' && {
      endorsementNumber: String(wholeNumber(random, 1, 9)),
      endorsementEffectiveDate: policyDate,
    }),
    ...(random() < 0.5 && { policyFee: wholeNumber(random, 5, 50) * 10 }),
    ...(random() < 0.2 && { inspectionFee: 150 }),
    ...(random() < 0.6 && { declaredPaymentMethod: 'ACH' }),
  };
}

function sampleSettlement(random: Random, status: string, createdAtMs: number, nowMs: number) {
  const completedAtMs = createdAtMs + Math.floor(random() * Math.min(nowMs - createdAtMs, 14 * dayMs));
  return {
    status,
    completedAt: status === 'COMPLETED' ? new Date(completedAtMs).toISOString() : undefined,
    rejectionReason: status === 'REJECTED' ? sampleRejectionReason(random) : undefined,
  };
}

function sampleDate(random: Random, aroundMs: number): string {
  return new Date(aroundMs - wholeNumber(random, -10, 45) * dayMs).toISOString().slice(0, 10);
}

/** Words that sample filings are made of. All companies are invented. */
const insuredFirstWords = ['Bluebonnet', 'Harbor Point', 'Red Canyon', 'Juniper', 'O’Malley & Sons', 'Nuñez'];
const insuredSecondWords = ['Roofing', 'Marine Services', 'Brewing', 'Day Care', 'Fireworks', 'Trucking'];
const companyForms = ['LLC', 'Inc.', 'LP', 'Corp.', 'Partners'];

const carriers = [
  'Northgate Specialty Insurance Company',
  'Meridian Excess & Surplus Ltd.',
  'Ironbark Indemnity',
  'Tidewater Surety and Casualty',
  'Atlas Lantern Insurance SE',
  'Quarry Hill Underwriters',
];

const rejectionReasons = [
  'Affidavit is not signed',
  'Premium on the declarations page differs from the premium filed',
  'Declarations page is missing the policy period',
  'Carrier is not on the eligible surplus lines insurer list on the effective date',
  'Diligent effort form names fewer than three declining carriers',
  'Insured’s address is outside the state',
  'Duplicate of a filing already reported under this policy number',
  'Uploaded document is unreadable; scan it again',
];

/** A new id, in the sandbox's own form, that no filing has; a seeded source may draw one a second time. */
export function unusedId(store: Pick<FilingStore, 'get'>, random: Random): string {
  let id: string;
  do id = `f_${hexDigits(random, 16)}`;
  while (store.get(id) !== undefined);
  return id;
}
