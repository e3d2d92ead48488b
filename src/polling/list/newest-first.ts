import { createdAtOf, type PartnerPage } from '../../partner/filing-schema.ts';

/**
 * Whether a page shows its filings newest first, by their own `createdAt`. False where one of them lacks it
 * or cannot be read as a filing. Also false where all were created at once: that is no order.
 */
export function isNewestFirst({ filings, length }: PartnerPage): boolean {
  const times = filings.map((filing) => createdAtOf(filing));
  const [newest = Number.NaN] = times;
  const oldest = times.at(-1) ?? Number.NaN;
  const descends = times.every((time, i) => i === 0 || time <= (times[i - 1] ?? Number.NaN));
  return filings.length === length && descends && oldest < newest;
}
