import type { FilingStateRules } from '../partner/filing-states.ts';

/** A filing to be filed once more, with what the rules of its state ask for. */
export interface Draft {
  readonly filingType: string | null;
  /** The requirements as plain text; null if the state or the type of the filing is unknown. */
  readonly requirements: string | null;
  /** The documents that the rules name, each with the filing's file for it, or null if that is missing. */
  readonly documents: readonly { readonly name: string; readonly fileName: string | null }[];
  /** Names of the other files of the filing. */
  readonly otherFiles: readonly string[];
  /** A body of `POST create-filing` (docs/partner.md#what-a-filing-needs). */
  readonly body: Readonly<Record<string, unknown>>;
  /** The fields of the body that are required and that the service has not returned. */
  readonly unknown: readonly string[];
}

type Document = Readonly<Record<string, unknown>>;

/** The path in a draft's body that an upload has to replace. */
export const newPath = '<storagePath of upload-user-file>';

const required = [
  'filingType',
  'filingStateId',
  'policyNumber',
  'insuredsName',
  'carriersName',
  'policyEffectiveDate',
  'premium',
] as const;
const ofEndorsements = ['endorsementNumber', 'endorsementEffectiveDate'] as const;
const optional = [
  'policyFee',
  'inspectionFee',
  'carriersFee',
  'lgtValue',
  'fmtValue',
  'declaredPaymentMethod',
  'userNotes',
] as const;

/**
 * The draft of a filing, from its document as the service returns it now and the rules of its state; pure.
 * Each required document is in the body, with a path that an upload gives. Fields that the service does not
 * return are null if they are required, and left out otherwise.
 */
export function draftOf(filing: Document, states: readonly FilingStateRules[]): Draft {
  // Numbers as they were written are no numbers yet.
  const plain = JSON.parse(JSON.stringify(filing)) as Document;
  const state = states.find(({ id }) => id === plain['filingStateId']);
  const filingType = typeof plain['filingType'] === 'string' ? plain['filingType'] : null;
  const isEndorsement = filingType?.startsWith('ENDORSEMENT') === true;
  const rules = state?.[isEndorsement ? 'endorsement' : 'newBusiness'];
  const isKnown = filingType !== null && rules !== undefined;
  const files = filesOf(plain['userFiles']);
  const names = isKnown ? rules.documents : [];
  const documents = names.map((name) => {
    const file = files.find((each) => each.name === name);
    return { name, fileName: file === undefined ? null : file.fileName };
  });
  const named = [...required, ...(isEndorsement ? ofEndorsements : []), ...optional];
  const fields = named.flatMap((name): [string, unknown][] => {
    const value = name.endsWith('Date') ? dateOf(plain[name]) : (plain[name] ?? null);
    return value === null && !required.some((one) => one === name) ? [] : [[name, value]];
  });
  const listed = isKnown ? documents : files;
  const entries = listed.map(({ name, fileName }) => ({ name, fileName: fileName ?? '', filePath: newPath }));
  const body = { ...Object.fromEntries(fields), files: entries };
  return {
    filingType,
    requirements: isKnown ? rules.description : null,
    documents,
    otherFiles: files
      .filter(({ name }) => !names.includes(name))
      .map(({ name, fileName }) => name || fileName),
    body,
    unknown: fields.flatMap(([name, value]) => (value === null ? [name] : [])),
  };
}

function filesOf(value: unknown): { readonly name: string; readonly fileName: string }[] {
  if (!Array.isArray(value)) return [];
  return value.map((entry: unknown) => {
    const { name, fileName } = Object(entry) as Document;
    return { name: textOf(name), fileName: textOf(fileName) };
  });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

// The service answers with a timestamp and takes a day.
function dateOf(value: unknown): string | null {
  return typeof value === 'string' && /^\d{4}-\d{2}-\d{2}/.test(value) ? value.slice(0, 10) : null;
}
