import type { PartnerError } from '../../partner/partner-error.ts';

/** A record that the service could not write into any page, not even alone. */
export interface LeftOutRecord {
  readonly offset: number;
  readonly error: PartnerError;
}

// Maximum number of offsets that are named.
const offsetsMax = 5;

/** Names a list for people: that of a status, or the whole one. */
export function nameOfList(status: string | undefined): string {
  return status === undefined ? 'the list of all filings' : `the list of ${status}`;
}

/** An offset behind which the service shows nothing of a list in words, with the consequence. */
export function describeCut(
  status: string | undefined,
  offset: number,
  { kind, message }: PartnerError,
): string {
  const where = `nothing is shown from offset ${offset} of ${nameOfList(status)} on`;
  const then = 'filings there are seen only if another list shows them, or by their ids once they are known';
  return `${kind}: ${message}; ${where}: ${then}`;
}

/** The records left out of a list in words, with the consequence; empty when there are none. */
export function describeLeftOut(status: string | undefined, leftOut: readonly LeftOutRecord[]): string {
  const [first] = leftOut;
  if (first === undefined) return '';
  const { kind, message } = first.error;
  const offsets = leftOut.slice(0, offsetsMax).map(({ offset }) => offset);
  const records = `${leftOut.length} record${leftOut.length === 1 ? '' : 's'} left out`;
  const where = `${offsets.join(', ')}${leftOut.length > offsetsMax ? ' and more' : ''} of ${nameOfList(status)}`;
  const then = 'a known filing is read by its id, a new one is not announced before the list shows it';
  return `${kind}: ${message}; ${records}, at offset ${where}: ${then}`;
}
