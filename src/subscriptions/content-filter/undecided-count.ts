import { hash } from 'node:crypto';

// Characters of the digest of a filter: enough to tell the filters of one subscription apart.
const digestLength = 12;

/** The stored form of the number of events on which a filter could not decide: it says which filter. */
export function undecidedText(filter: string, count: number): string {
  return `${count} ${digestOf(filter)}`;
}

/** That number from its stored form; 0 for another filter, and where there is none. */
export function undecidedCount(text: string, filter: string | null | undefined): number {
  if (filter == null || text === '') return 0;
  const [count, digest] = text.split(' ');
  return digest === digestOf(filter) ? Number(count) || 0 : 0;
}

function digestOf(filter: string): string {
  return hash('sha256', filter).slice(0, digestLength);
}
