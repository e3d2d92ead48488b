import type { PageAnswer } from '../../partner/partner-client.ts';
import type { PartnerError } from '../../partner/partner-error.ts';
import type { LeftOutRecord } from './gaps.ts';
import type { IdSet } from './id-set.ts';
import { splitRepeatedRows, type ShownPage } from './repeated-rows.ts';
import {
  advance,
  nextStep,
  skipPage,
  skipRecord,
  startPosition,
  type ScanPosition,
  type ScanStep,
} from './scan-position.ts';

/** The part of a list that a scan has read so far. */
export type ScanProgress = ReturnType<typeof createScanProgress>;

// Maximum number of records that cannot be read of which the names are kept.
const quarantinedMax = 1_000;

/** The progress of a scan before its first page; see `ScanDeps` for `shown` and `part`. */
export function createScanProgress(shown: IdSet, part: number) {
  const quarantined = new Set<string>();
  const leftOut: LeftOutRecord[] = [];
  let unreadable = 0;

  const progress = {
    position: startPosition() as ScanPosition,
    /** Records that could not be read as filings, by id or digest; the first thousand. */
    quarantined: quarantined as ReadonlySet<string>,
    /** Records that the service could not write, not even alone. */
    leftOut: leftOut as readonly LeftOutRecord[],
    /** Number of records that could not be read as filings. */
    unreadable: () => unreadable,
    /** Goes on behind a page that was read. */
    accept(answer: PageAnswer): ShownPage {
      let fresh = 0;
      const showId = (id: string): boolean => {
        const membership = shown.add(id, part);
        if (membership !== 'again') fresh += 1;
        return membership === 'new';
      };
      const rows = splitRepeatedRows(answer.page.filings, showId);
      const named = fresh;
      for (const name of answer.page.quarantined) {
        showId(name);
        if (quarantined.size < quarantinedMax) quarantined.add(name);
      }
      // Those without a name count on each page that they stand on.
      unreadable += fresh - named + answer.page.unreadable - answer.page.quarantined.length;
      progress.position = advance(progress.position, answer.page, fresh);
      return { ...answer, rows };
    },
    /** Goes on behind a single record that cannot be read. */
    leaveOut(error: PartnerError): void {
      leftOut.push({ offset: progress.position.offset, error });
      progress.position = skipRecord(progress.position);
    },
    /** Goes on behind a page that cannot be read. Returns the next step. */
    leaveOutPage(): ScanStep {
      progress.position = skipPage(progress.position);
      return nextStep(progress.position);
    },
    /** Offset of a record that can be read, if any can. */
    readableOffset(): number {
      let at = 0;
      while (leftOut.some(({ offset }) => offset === at)) at += 1;
      return at;
    },
  };
  return progress;
}
