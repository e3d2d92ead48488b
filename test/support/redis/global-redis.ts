import type { TestProject } from 'vitest/node';
import { provideRedis } from '../../../src/demo/provide-redis.ts';

declare module 'vitest' {
  interface ProvidedContext {
    redisUrl: string;
  }
}

/**
 * Gives the tests of a project one Redis for the whole run: the one TEST_REDIS_URL names, else one found or
 * started here and removed afterwards. Never an emulation: these tests are about the real thing.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const redis = await provideRedis({
    env: { ...process.env, REDIS_URL: process.env['TEST_REDIS_URL'] },
    variable: 'TEST_REDIS_URL',
    log: (line) => process.stderr.write(`${line}\n`),
    allowEmulation: false,
  });
  project.provide('redisUrl', redis.url);
  return () => redis.close();
}
