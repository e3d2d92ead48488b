import { Type } from 'typebox';
import type { Static } from 'typebox';
import { FILES_MAX, MONEY_MAX, NOTES_LENGTH_MAX, TEXT_LENGTH_MAX } from '../decisions.ts';
import { FILING_TYPES, PAYMENT_METHODS } from '../filings/filing.ts';

const NOT_BLANK = '\\S';
const PLAIN_FILE_NAME = '^[^/\\\\\\x00-\\x1f\\x7f]+$';

/** What a text that does not match one of the patterns is told. */
export const PATTERN_MEANINGS: ReadonlyMap<unknown, string> = new Map([
  [NOT_BLANK, 'must not be blank'],
  [PLAIN_FILE_NAME, 'must be a file name without slashes and control characters'],
]);

const Text = Type.String({ maxLength: TEXT_LENGTH_MAX, pattern: NOT_BLANK });
const Money = Type.Number({ minimum: 0, maximum: MONEY_MAX });
const CalendarDate = Type.String({ format: 'date' });

/**
 * The body of `POST /partner/calculate`; the fees and values are the sandbox's own reading of "optional
 * fields: not shown".
 */
export const CalculateBody = Type.Object({
  filingType: Type.Enum(FILING_TYPES),
  stateAbbr: Text,
  premium: Money,
  policyFee: Type.Optional(Money),
  inspectionFee: Type.Optional(Money),
  carriersFee: Type.Optional(Money),
  lgtValue: Type.Optional(Money),
  fmtValue: Type.Optional(Money),
});

/**
 * The body of `POST /partner/create-filing` (partner specification, Endpoints); fields beyond these are
 * ignored.
 */
export const CreateFilingBody = Type.Object({
  filingType: Type.Enum(FILING_TYPES),
  filingStateId: Text,
  policyNumber: Text,
  insuredsName: Text,
  carriersName: Text,
  policyEffectiveDate: CalendarDate,
  premium: Money,
  files: Type.Array(Type.Object({ name: Text, fileName: Text, filePath: Type.String({ minLength: 1 }) }), {
    maxItems: FILES_MAX,
  }),
  endorsementNumber: Type.Optional(Text),
  endorsementEffectiveDate: Type.Optional(CalendarDate),
  policyFee: Type.Optional(Money),
  inspectionFee: Type.Optional(Money),
  carriersFee: Type.Optional(Money),
  lgtValue: Type.Optional(Money),
  fmtValue: Type.Optional(Money),
  declaredPaymentMethod: Type.Optional(Type.Enum(PAYMENT_METHODS)),
  userNotes: Type.Optional(Type.String({ maxLength: NOTES_LENGTH_MAX })),
});

/** The body of `POST /partner/upload-user-file`; a file name is no path. */
export const UploadBody = Type.Object({
  fileName: Type.String({ maxLength: TEXT_LENGTH_MAX, pattern: PLAIN_FILE_NAME }),
  filingId: Type.Optional(Type.String({ minLength: 1 })),
});

/** A `create-filing` body that has the right fields and types. */
export type CreateFilingInput = Static<typeof CreateFilingBody>;
