import type { SubscriptionDrainerDeps } from '../../delivery/drain/drainer.ts';
import type { HostLookup } from '../../egress/host-lookup.ts';
import type { RedisConnections } from '../../redis/connection/connect.ts';

type DeliveryHooks = Pick<SubscriptionDrainerDeps, 'onAttempt' | 'onBlocked' | 'onExpired' | 'onDisabled'>;

/** What tests and benchmarks put in place of the product's own, or add to it. */
export interface Overrides extends Partial<DeliveryHooks> {
  /** In place of connections to `REDIS_URL`; left open at the end. */
  readonly connections?: RedisConnections;
  /** Milliseconds, in place of Redis's clock. */
  readonly now?: () => number;
  /** In place of the machine's resolver when a callback URL is checked. */
  readonly lookup?: HostLookup;
  /** Prefix of the queues' keys. */
  readonly queues?: string;
  /** Maximum number of drains at once. */
  readonly drainsAtOnce?: number;
  /** Maximum number of events that a replay counts one by one. */
  readonly replayCountMax?: number;
  /** Called with each error of the background, also with those that are not logged. */
  readonly onError?: (error: Error) => void;
}
