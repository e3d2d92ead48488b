import type { HostLookup } from '../../names/host-lookup.ts';
import type { DeliveryObserver } from '../../monitoring/observe-delivery.ts';
import type { RedisConnections } from '../../redis/connection/connect.ts';

/** Parts that tests and benchmarks replace or add. */
export interface Overrides {
  /** Returns the observer to use in place of the product's own. */
  readonly observe?: (observer: DeliveryObserver) => DeliveryObserver;
  /** Used instead of connections to `REDIS_URL`; not closed at the end. */
  readonly connections?: RedisConnections;
  /** Milliseconds, instead of Redis's clock. */
  readonly now?: () => number;
  /** Used instead of the machine's resolver to check callback URLs. */
  readonly lookup?: HostLookup;
  /** Prefix of the queues' keys. */
  readonly queues?: string;
  /** Maximum number of accounts delivered to at once. */
  readonly accountsAtOnce?: number;
  /** Maximum number of callbacks in flight, of all accounts together. */
  readonly callbacksAtOnce?: number;
  /** Maximum number of events that a replay counts one by one. */
  readonly replayCountMax?: number;
  /** Called with each background error, also when it is not logged. */
  readonly onError?: (error: Error) => void;
}
