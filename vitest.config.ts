import { defineConfig } from 'vitest/config';

// One project per kind of test: `unit` needs nothing, the others need the Redis that the global set-up finds
// or provides, `browser` a Chromium besides.
const withRedis = {
  globalSetup: ['test/support/redis/global-redis.ts'],
  hookTimeout: 60_000,
  // What waits a second by itself needs more than the default of one.
  expect: { poll: { timeout: 10_000 } },
};

export default defineConfig({
  test: {
    reporters: ['default', './test/support/summary-reporter.ts'],
    projects: [
      { test: { name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          testTimeout: 30_000,
          ...withRedis,
        },
      },
      {
        test: {
          name: 'security',
          include: ['test/security/**/*.test.ts'],
          testTimeout: 60_000,
          ...withRedis,
        },
      },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 60_000, ...withRedis } },
      // Not part of `npm test`: it takes up to twenty minutes. Its tests start servers of their own.
      {
        test: {
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          testTimeout: 900_000,
          hookTimeout: 60_000,
          fileParallelism: false,
        },
      },
      {
        test: { name: 'browser', include: ['test/browser/**/*.test.ts'], testTimeout: 60_000, ...withRedis },
      },
    ],
  },
});
