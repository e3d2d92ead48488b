import { afterAll, test } from 'vitest';
import { testRedis } from '../../support/redis/test-redis.ts';
import { racingMovers, racingSettings, expectSettings } from './settings-race.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const seed = Number(process.env['RACE_SEED'] ?? 1);

// `test/crash/settings-race.test.ts` has thousands of rounds.
const races = racingMovers.flatMap((mover) =>
  Object.entries(racingSettings).map(([name, settings]) => [name, mover, settings] as const),
);

test.each(races)(
  `%s: settings hold from the answer on, for each event recorded after it, while %s have the log read (seed ${seed})`,
  (_name, mover, settings) => expectSettings(redis, settings, { mover, rounds: 10, seed }),
  60_000,
);
