import { isKnownStatus, knownStatuses } from '../../partner/filing-statuses.ts';

const otherStatusesMax = 20;

/**
 * Filings per status, with a bounded number of statuses; pure. The statuses of docs/partner.md#statuses are
 * always there. Of other statuses, the twenty most frequent keep their name and the rest is `other`.
 */
export function boundedCounts(counts: Readonly<Record<string, number>>): Record<string, number> {
  const known = knownStatuses.map((status): [string, number] => [status, counts[status] ?? 0]);
  const others = Object.entries(counts)
    .filter(([status, count]) => count > 0 && !isKnownStatus(status))
    .toSorted(([, a], [, b]) => b - a);
  const rest = others.slice(otherStatusesMax).reduce((sum, [, count]) => sum + count, 0);
  return Object.fromEntries([
    ...known,
    ...others.slice(0, otherStatusesMax),
    ...(rest === 0 ? [] : [['other', rest] as const]),
  ]);
}
