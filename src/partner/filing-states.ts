import { htmlText } from './html-text.ts';

/** The rules of a state for filings of one kind. */
export interface StateRules {
  /** Plain text, of the HTML that the service wrote. */
  readonly description: string;
  /** Names of the documents that a filing needs. */
  readonly documents: readonly string[];
}

/** A filing state and its rules (docs/partner.md#what-a-filing-needs). */
export interface FilingStateRules {
  readonly id: string;
  readonly stateAbbr: string;
  readonly newBusiness: StateRules;
  readonly endorsement: StateRules;
}

// Maximum characters of a description that are read.
const htmlLengthMax = 100_000;

/** The filing states in an answer, or null if it is not a list. Entries without an id are left out. */
export function parseFilingStates(text: () => string): readonly FilingStateRules[] | null {
  const value: unknown = JSON.parse(text());
  if (!Array.isArray(value)) return null;
  return value.flatMap((entry: unknown): FilingStateRules[] => {
    const fields = Object(entry) as Readonly<Record<string, unknown>>;
    const [id, stateAbbr] = [textOf(fields['id']), textOf(fields['stateAbbr'])];
    if (id === '') return [];
    return [
      {
        id,
        stateAbbr,
        newBusiness: rulesOf(fields['descriptionNb'], fields['filesNb']),
        endorsement: rulesOf(fields['descriptionEd'], fields['filesEd']),
      },
    ];
  });
}

function rulesOf(description: unknown, files: unknown): StateRules {
  const names = Array.isArray(files) ? files.map((file: unknown) => textOf(Object(file).name)) : [];
  const text = htmlText(textOf(description).slice(0, htmlLengthMax));
  return { description: text, documents: names.filter((name) => name !== '') };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
