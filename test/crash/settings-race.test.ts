import { afterAll, beforeAll, test } from 'vitest';
import { racingMovers, racingSettings, expectSettings } from '../integration/delivery/settings-race.ts';
import { shareOf, startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';

// For all of the settings together.
const allRounds = Number(process.env['RACE_ROUNDS'] ?? 5_000);
const races = racingMovers.flatMap((mover) =>
  Object.entries(racingSettings).map(([name, settings]) => [name, mover, settings] as const),
);
const rounds = Math.ceil(allRounds / races.length);
const seed = Number(process.env['RACE_SEED'] ?? Date.now() % 1_000_000);
let redis: PrivateRedis;

beforeAll(async () => {
  redis = await startPrivateRedis();
});

afterAll(() => redis.close());

test.each(races)(
  `%s: in ${rounds} rounds settings hold from the answer on, while %s read on (seed ${seed})`,
  async (name, mover, settings) => {
    const share = shareOf(redis.url);
    const startedAt = performance.now();
    try {
      await expectSettings(share, settings, { mover, rounds, seed });
    } finally {
      await share.cleanup();
    }
    console.log(
      `${name}, ${mover}: ${rounds} rounds in ${Math.round((performance.now() - startedAt) / 1_000)} s`,
    );
  },
  3_600_000,
);
