import { expect } from 'vitest';
import { testRedis } from '../../support/redis/test-redis.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { checkYear, type YearFigures } from './check.ts';
import { liveYear, type YearSize } from './live.ts';

// Number of accounts that live at once; the logs of a year fill Redis.
const accountsAtOnce = 5;

/**
 * Lives years of these sizes and expects that every rejection is answered, corrected, seen by a person or
 * reported twice before its due date, and that nothing is reported falsely or twice.
 */
export async function expectNothingUnnoticed(size: YearSize): Promise<void> {
  const random = seededRandom('PROPERTY_SEED');
  const all: YearFigures[] = [];
  let [kills, polls] = [0, 0];
  for (let from = 0; from < size.accounts; from += accountsAtOnce) {
    const accounts = Math.min(accountsAtOnce, size.accounts - from);
    const share = (of: number) => Math.ceil((of * accounts) / size.accounts);
    const redis = testRedis();
    await using stack = new AsyncDisposableStack();
    stack.defer(() => redis.cleanup());
    const { pollDays } = size;
    const year = await liveYear(stack, redis, redis.prefix, random, {
      accounts,
      filings: share(size.filings),
      lookAlikes: share(size.lookAlikes),
      kills: share(size.kills),
      pollDays,
    });
    for (const account of year.accounts) all.push(await checkYear(year, account));
    kills += year.kills;
    polls += year.polls;
  }
  const sum = (of: (figures: YearFigures) => number) => all.reduce((total, each) => total + of(each), 0);
  const figures = {
    kills,
    polls,
    events: sum(({ events }) => events),
    rejections: sum(({ rejections }) => rejections),
    answered: sum(({ ends }) => ends.answered),
    corrected: sum(({ ends }) => ends.corrected),
    seen: sum(({ ends }) => ends.seen),
    warned: sum(({ ends }) => ends.warned),
    due: sum(({ due }) => due),
    digests: sum(({ digests }) => digests),
  };
  process.stderr.write(`a year: ${JSON.stringify(figures)}\n`);
  const violations = all.flatMap((each) => each.violations);
  expect(violations.slice(0, 20), `${violations.length} violations`).toEqual([]);
  for (const end of ['answered', 'corrected', 'seen', 'warned'] as const)
    expect(figures[end]).toBeGreaterThan(0);
  expect(kills).toBeGreaterThanOrEqual(Math.floor(size.kills / 2));
}
