import type { FilingDocument } from '../../filings/observe-filings.ts';

/**
 * When a filing was created (partner specification, Filing), in milliseconds; NaN where its document does not
 * say; pure.
 */
export function createdAtOf(document: FilingDocument): number {
  const createdAt = document?.['createdAt'];
  return typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
}
