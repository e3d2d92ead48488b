import { afterAll, test } from 'vitest';
import { testRedis } from '../../support/redis/test-redis.ts';
import { racingSettings, expectSettings } from './settings-race.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const seed = Number(process.env['RACE_SEED'] ?? 1);

// `test/crash/settings-race.test.ts` has thousands of rounds.
test.each(Object.entries(racingSettings))(
  `%s: settings hold from the answer on, for each event recorded after it, while a drain reads on (seed ${seed})`,
  (_name, settings) => expectSettings(redis, settings, { rounds: 10, seed }),
  60_000,
);
