import type { FilingCommit, Observation } from '../../filings/detection/decide-commit.ts';
import { isNoInstant } from '../../filings/detection/same-instant.ts';
import type { Step } from '../../filings/observe-filings.ts';
import type { PartnerFiling } from '../../partner/filing-schema.ts';
import { isSettled } from '../../partner/filing-statuses.ts';
import { standingDoubt } from '../beliefs/doubt.ts';
import { canBeDoubted, type Evidence } from '../beliefs/weigh.ts';
import type { MissedRecord } from './missed-record.ts';
import type { PollInput } from './poll-input.ts';
import { isBirth } from './waiting-commits.ts';

/** The evidence of one poll as it comes in. */
export type GatheredEvidence = ReturnType<typeof gatherEvidence>;

/** No evidence yet. */
export function gatherEvidence(
  { marks, known }: Pick<PollInput, 'marks' | 'known'>,
  missed: Pick<MissedRecord, 'gone'>,
) {
  const { baselined, identity } = marks;
  const standing = standingDoubt(marks);
  const isDoubtable = canBeDoubted({ baselined, known });
  const goneAtFirst = missed.gone();
  const counted = { shown: 0, unknown: 0, timed: 0, moved: 0 };
  let births = 0;
  let expected = 0;
  let seen: string | null | undefined;

  const isOther = () => isDoubtable && seen != null && identity !== '' && seen !== identity;

  return {
    /** Counts a read and its commits that wait. Returns the number of births among these. */
    count(observations: readonly Observation[], waiting: readonly Step[], isListed: boolean): number {
      const weighed = new Map(waiting.map(({ observation, commit }) => [observation.id, isBirth(commit)]));
      let born = 0;
      for (const { id, filing } of observations) {
        const isNew = weighed.get(id) === true;
        const isMoved = weighed.get(id) === false;
        if (isNew) born += 1;
        if (isListed) counted[isNew ? 'unknown' : 'shown'] += 1;
        if (isMoved) counted.moved += 1;
        if (isMoved || (!isNew && filing !== null && isTimed(filing))) counted.timed += 1;
      }
      births += born;
      return born;
    },
    /** Takes back a commit that waited, because its filing was read again. */
    discount(commit: FilingCommit) {
      if (isBirth(commit)) births -= 1;
      else {
        counted.moved -= 1;
        counted.timed -= 1;
      }
    },
    /** Number of filings never seen before that wait, or did not fit; 0 after `endBirths`. */
    births: (): number => births,
    /** Counts the birth of a filing that has been decided on, or of all. */
    endBirth: () => void (births -= 1),
    endBirths: () => void (births = 0),
    /** The account's own lists would have shown at least this number of the known filings. */
    expect: (shown: number) => void (expected = Math.min(known, shown)),
    /** Records the account that `GET /partner/me` names, or null if it names none. */
    noteAccount: (digest: string | null) => void (seen = digest),
    /** Digest of the account named last, null if none was named; undefined until the service was asked. */
    seenAccount: (): string | null | undefined => seen,
    /** Whether another account answers. */
    isOther,
    present(): Evidence {
      const gone = missed.gone();
      const goneBefore = Math.min(goneAtFirst, gone);
      return { known, expected, ...counted, gone, goneBefore, isOther: isOther(), baselined, standing };
    },
  };
}

function isTimed({ status, completedAt }: PartnerFiling): boolean {
  return isSettled(status) && !isNoInstant(completedAt);
}
