import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// One project per kind of test: `unit` needs nothing, the others need the Redis that the global set-up finds
// or provides, `browser` a Chromium besides. `npm test` is all of them but the files of every kind whose
// names end in .long.test.ts, and `crash`.
const long = 'test/**/*.long.test.ts';
// Those that measure time, memory, files, a rate or what Redis does, or try as many random lives as a time allows.
const measuring = [
  'test/{crash,unit}/**/*.long.test.ts',
  'test/e2e/{delivery-hostile-receivers,delivery-isolation,delivery-rate,delivery-rotation,delivery-takeover,stop}.long.test.ts',
  'test/integration/{callbacks,daemon,delivery,events,filings,names,redis}/**/*.long.test.ts',
  'test/integration/partner/{host-budgets,partner-client}.long.test.ts',
  'test/integration/polling/{random-lives,refused-pace,shared-budget,slow-line}.long.test.ts',
  'test/security/{dead-names,first-requests,slow-clients}.long.test.ts',
  'test/security/{fuzz,slow-search}/*.long.test.ts',
];

/** Groups run one after the other. */
const inGroup = (groupOrder: number) => ({ sequence: { groupOrder } });

const withRedis = {
  globalSetup: ['test/support/redis/global-redis.ts'],
  hookTimeout: 60_000,
  setupFiles: ['test/support/patient-wait.ts'],
  // A condition that takes a second by itself needs more than the default of one.
  expect: { poll: { timeout: 10_000 } },
};

/** The short files of one kind. They share workers, since no file leaves anything behind. */
function kind(name: string, testTimeout: number, needs: Partial<typeof withRedis> = withRedis) {
  const include = [`test/${name}/**/*.test.ts`];
  return { test: { name, include, exclude: [long], testTimeout, isolate: false, ...needs } };
}

export default defineConfig({
  test: {
    reporters: ['default', './test/support/summary-reporter.ts'],
    // A test waits for half of its time: three files at once, also on a machine of two cores.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    // Where others share the machine, a test that fails is run once more; the summary names it.
    retry: process.env['CI'] === undefined ? 0 : 1,
    projects: [
      kind('unit', 20_000, {}),
      kind('integration', 30_000),
      kind('security', 60_000),
      kind('e2e', 60_000),
      kind('browser', 60_000),
      // They wait most of the time, for browsers, compilers, daemons.
      {
        test: {
          name: 'long-parallel',
          include: [long],
          exclude: measuring,
          testTimeout: 60_000,
          ...withRedis,
          ...inGroup(1),
        },
      },
      // One file after the other, since another would change what they measure.
      {
        test: {
          name: 'long',
          include: measuring,
          testTimeout: 60_000,
          fileParallelism: false,
          ...withRedis,
          ...inGroup(2),
        },
      },
      // Its tests start servers of their own.
      {
        test: {
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          exclude: [long],
          testTimeout: 900_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
