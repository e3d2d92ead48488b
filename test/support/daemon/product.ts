import { pino, type Logger } from 'pino';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/config.ts';
import { createParts, type Parts } from '../../../src/daemon/parts.ts';
import type { Overrides } from '../../../src/daemon/parts/overrides.ts';
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import type { DeliveryObserver } from '../../../src/monitoring/observe-delivery.ts';
import type { RedisClient, RedisConnections } from '../../../src/redis/connection/connect.ts';

/** The operator's token in tests of the API. */
export const operatorToken = 'operator-token-of-the-tests-0123456789';

/** The product's own configuration for callbacks to this machine, over keys below `prefix`. */
export function testConfig(prefix: string, redisUrl = 'redis://127.0.0.1:1'): Config {
  const loaded = loadConfig({
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    REDIS_UNSAFE: 'true',
    API_TOKEN: operatorToken,
    ENCRYPTION_KEY: `test:${Buffer.alloc(32, 7).toString('base64')}`,
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
    DELIVERY_ALLOW_HTTP: 'true',
  });
  if (!loaded.ok) throw new Error(loaded.problems.join('; '));
  return loaded.config;
}

type DeliveryHooks = Pick<DeliveryObserver, 'onAttempts' | 'onBlocked' | 'onExpired' | 'onDisabled'>;

/** For `Overrides.observe`: the product's own observer, with its hooks followed by these. */
export function alsoCalled({ onAttempts, onBlocked, onExpired, onDisabled }: Partial<DeliveryHooks>) {
  const both =
    <A extends unknown[]>(first: (...args: A) => void, second: (...args: A) => void = () => undefined) =>
    (...args: A) => {
      first(...args);
      second(...args);
    };
  return (observer: DeliveryObserver): DeliveryObserver => ({
    ...observer,
    onAttempts: both(observer.onAttempts, onAttempts),
    onBlocked: both(observer.onBlocked, onBlocked),
    onExpired: both(observer.onExpired, onExpired),
    onDisabled: both(observer.onDisabled, onDisabled),
  });
}

/** Clients of a test in place of the product's own connections; the test closes them. */
export function connectionsOver(client: RedisClient, blocking: () => RedisClient): RedisConnections {
  return {
    describe: 'the Redis of the test',
    command: () => client,
    failFast: () => client,
    blocking,
    listening: blocking,
    untilReady: () => Promise.resolve(),
    whyAway: () => null,
    untilAway: (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve())),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

// Its gauges watch the process: one for all that a test file makes.
const metrics = createMetrics();

export interface ProductOptions {
  /** Nothing is logged without one. */
  readonly logger?: Logger;
  readonly overrides?: Overrides;
}

/** The parts of the product, not started; disposing them closes what they have opened. */
export async function createProduct(
  config: Config,
  { logger = pino({ level: 'silent' }), overrides = {} }: ProductOptions,
): Promise<{ readonly parts: Parts } & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const deps = {
    version: '0.0.0-test',
    logger,
    random: () => 0.5,
    metrics,
    untilRedis: (connections: RedisConnections) => connections.untilReady(10_000),
  };
  const parts = await createParts(config, deps, stack, overrides);
  const all = stack.move();
  return { parts, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
