import { createHash } from 'node:crypto';
import { pairOf, type FilingType } from './filing.ts';
import { stateTable, type PairRow, type RateConfiguration, type StateRow } from './state-table.ts';

/** A document to gather before filing; it describes what to upload and is no file itself. */
type RequiredDocument = Readonly<ReturnType<typeof requiredDocument>>;

/** A filing state exactly as the service returns it. */
export type FilingState = Readonly<ReturnType<typeof toFilingState>>;

const documentsSince = '2024-01-01T00:00:00.000Z';

/** All states of the sandbox, in alphabetical order of their names. */
export const filingStates: readonly FilingState[] = stateTable.map(toFilingState);

/** The state with that abbreviation (exact, upper case), or undefined. */
export const findState = (stateAbbr: string) => filingStates.find((state) => state.stateAbbr === stateAbbr);

/** The state with that `filingStateId`, or undefined. */
export const findStateById = (id: string) => filingStates.find((state) => state.id === id);

/** The documents that a filing of this type needs in this state. */
export function documentsFor(state: FilingState, filingType: FilingType): readonly RequiredDocument[] {
  return pairOf(filingType) === 'nb' ? state.filesNb : state.filesEd;
}

/** The rates that price this type in this state. */
export function ratesFor(state: FilingState, filingType: FilingType): RateConfiguration {
  return pairOf(filingType) === 'nb' ? state.nbStateRates : state.edStateRates;
}

/** A UUID that is always the same for the same text (RFC 9562 §5.8, version 8). */
function stableUuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function toFilingState(row: StateRow) {
  return {
    id: stableUuid(`filing state ${row.stateAbbr}`),
    name: row.name,
    stateAbbr: row.stateAbbr,
    descriptionNb: description(row.name, 'new business', row.nb),
    descriptionEd: description(row.name, 'endorsements', row.ed),
    filesNb: row.nb.documents.map((name) => requiredDocument(row.stateAbbr, 'nb', name)),
    filesEd: row.ed.documents.map((name) => requiredDocument(row.stateAbbr, 'ed', name)),
    nbStateRates: row.nb.rates,
    edStateRates: row.ed.rates,
  };
}

function description(stateName: string, kind: string, pair: PairRow): string {
  const steps = [
    ...pair.documents.map((name) => `Upload: <strong>${escapeHtml(name)}</strong>`),
    ...pair.notes,
  ];
  const items = steps.map((step) => `<li>${step}</li>`).join('');
  return `<p>${escapeHtml(stateName)}, ${kind}:</p><ol>${items}</ol>`;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function requiredDocument(stateAbbr: string, pair: 'nb' | 'ed', name: string) {
  return {
    id: stableUuid(`document ${stateAbbr} ${pair} ${name}`),
    name,
    createdAt: documentsSince,
    updatedAt: documentsSince,
    fileName: null,
    filePath: null,
  };
}
