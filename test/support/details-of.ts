import { toDetails, type FilingDetails } from '../../src/filings/detection/filing-details.ts';

/** The details of a filing's document. */
export function detailsOf(document: Readonly<Record<string, unknown>>): FilingDetails {
  const details = toDetails(document);
  if (details === null) throw new Error('no details');
  return details;
}
