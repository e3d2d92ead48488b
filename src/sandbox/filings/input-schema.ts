import { Type } from 'typebox';
import type { Static } from 'typebox';
import { filesMax, moneyMax, notesLengthMax, textLengthMax } from '../decisions.ts';
import { filingTypes, paymentMethods } from './filing.ts';

const notBlank = '\\S';
const plainFileName = '^[^/\\\\\\x00-\\x1f\\x7f]+$';

/** The message for a text that does not match one of the patterns. */
export const patternMeanings: ReadonlyMap<unknown, string> = new Map([
  [notBlank, 'must not be blank'],
  [plainFileName, 'must be a file name without slashes and control characters'],
]);

const Text = Type.String({ maxLength: textLengthMax, pattern: notBlank });
const Money = Type.Number({ minimum: 0, maximum: moneyMax });
const CalendarDate = Type.String({ format: 'date' });

// Fees and values of the policy in dollars.
const fees = {
  policyFee: Type.Optional(Money),
  inspectionFee: Type.Optional(Money),
  carriersFee: Type.Optional(Money),
  lgtValue: Type.Optional(Money),
  fmtValue: Type.Optional(Money),
};

/** The body of `POST /partner/calculate`; the optional fees and values are a decision of the sandbox. */
export const CalculateBody = Type.Object({
  filingType: Type.Enum(filingTypes),
  stateAbbr: Text,
  premium: Money,
  ...fees,
});

/** The body of `POST /partner/create-filing`; further fields are ignored. */
export const CreateFilingBody = Type.Object({
  filingType: Type.Enum(filingTypes),
  filingStateId: Text,
  policyNumber: Text,
  insuredsName: Text,
  carriersName: Text,
  policyEffectiveDate: CalendarDate,
  premium: Money,
  files: Type.Array(Type.Object({ name: Text, fileName: Text, filePath: Type.String({ minLength: 1 }) }), {
    maxItems: filesMax,
  }),
  endorsementNumber: Type.Optional(Text),
  endorsementEffectiveDate: Type.Optional(CalendarDate),
  ...fees,
  declaredPaymentMethod: Type.Optional(Type.Enum(paymentMethods)),
  userNotes: Type.Optional(Type.String({ maxLength: notesLengthMax })),
});

/** The body of `POST /partner/upload-user-file`; a file name is no path. */
export const UploadBody = Type.Object({
  fileName: Type.String({ maxLength: textLengthMax, pattern: plainFileName }),
  filingId: Type.Optional(Type.String({ minLength: 1 })),
});

/** A `create-filing` body that has the right fields and types. */
export type CreateFilingInput = Static<typeof CreateFilingBody>;

/** A `calculate` body that has the right fields and types; amounts are in dollars. */
export type CalculateInput = Static<typeof CalculateBody>;
