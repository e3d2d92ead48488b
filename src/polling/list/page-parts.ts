import { pageSize, type PartnerPage } from '../../partner/filing-schema.ts';
import { isRefusal, PartnerError } from '../../partner/partner-error.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import type { Answer, ListRequests } from './list-requests.ts';
import type { ShownPage } from './repeated-rows.ts';
import { expectTotal, nextStep } from './scan-position.ts';
import type { ScanProgress } from './scan-progress.ts';

// Rows of a page that are requested alone when it cannot be read. They are spread, so that it takes chance
// for all of them to be in the way.
const samples = [0, 34, 67];
// Maximum number of records in a row that are left out before the service is asked whether it serves others.
const inARowMax = 10;
// Maximum number of requests for parts of pages, beside one for each page that was read.
const partsMax = 200;

/** Reads of a page that the service does not serve as a whole; they go on from a scan's progress. */
export function createPageParts(requests: ListRequests, progress: ScanProgress) {
  const isAffordable = () => requests.parts() <= partsMax + progress.position.rows / pageSize;

  return {
    /** False once parts have taken too many requests. */
    isAffordable,

    /**
     * Whether the service answers for some records of a page that it has failed to serve as a whole. If it
     * does not, it is the service that fails.
     */
    async isServed(error: PartnerError): Promise<boolean> {
      const { offset, pages: before, total } = progress.position;
      const within = samples.map((rows) => offset + rows).filter((at) => total === null || at < total);
      // A short last page has too few to tell.
      const isShort = within.length < samples.length && !isRefusal(error);
      const offsets = isShort ? [...within, progress.readableOffset()] : within;
      const looks = await allEnded(offsets.map((at) => requests.look(at)));
      const seen = looks.filter((look): look is PartnerPage => !(look instanceof PartnerError));
      if (seen[0] !== undefined && before === 0)
        progress.position = expectTotal(progress.position, seen[0].total);
      // Records that are no filings show that another service answers.
      if (seen.some((look) => look.unreadable > 0)) return seen.some(({ filings }) => filings.length > 0);
      // A service may refuse what is behind the end.
      return seen.length > 0 || (offset === 0 && !isRefusal(error) && looks.some(isRefusal));
    },

    /** Reads a page in halves, down to the records that block it. Stops if many in a row do. */
    async *read(error: PartnerError): AsyncGenerator<ShownPage, void> {
      const { offset: from, total } = progress.position;
      const to = from + (error.excess?.limit === 1 ? 1 : pageSize);
      const bounds = [Math.min(to, total ?? to)];
      if (total !== null && total <= from) return;
      let answer: Answer = error;
      let inARow = 0;
      for (;;) {
        const { offset } = progress.position;
        const rows = (bounds.at(-1) ?? 0) - offset;
        if (!(answer instanceof PartnerError)) {
          inARow = 0;
          yield progress.accept(answer);
        } else if (rows > 1) {
          bounds.push(offset + Math.ceil(rows / 2));
        } else {
          if (isRefusal(answer) && offset > from) return;
          inARow += 1;
          progress.leaveOut(answer);
        }
        const { position } = progress;
        while (position.offset >= (bounds.at(-1) ?? Infinity)) bounds.pop();
        const bound = bounds.at(-1);
        if (bound === undefined || inARow >= inARowMax || !isAffordable()) return;
        if (position.pages > 0 && nextStep(position) !== 'continue') return;
        answer = await requests.part(position.offset, bound - position.offset);
      }
    },
  };
}
