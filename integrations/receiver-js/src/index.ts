export * from './events/events.ts';
export {
  isChallenge,
  isKnownEvent,
  type AnyEvent,
  type ChallengeEvent,
  type UnknownEvent,
} from './events/event.ts';
export type { EventFormat } from './events/read-event.ts';
export { CallbackError, ConfigurationError, type CallbackErrorCode } from './errors.ts';
export type { Answer } from './answer.ts';
export {
  createReceiver,
  type CallbackRequest,
  type HandlerContext,
  type Receiver,
  type ReceiverOptions,
} from './receiver.ts';
export { toFetchHandler } from './middleware/fetch.ts';
export { memoryStore, type MemoryStoreOptions } from './stores/memory-store.ts';
export {
  postgresStore,
  postgresTable,
  type PostgresClient,
  type PostgresPool,
  type PostgresStoreOptions,
} from './stores/postgres-store.ts';
export { redisStore, type RedisStoreOptions } from './stores/redis-store.ts';
export type { Delivery, Store, Taken, Turn } from './stores/store.ts';
export type { HeadersLike } from './verification/headers.ts';
export type { KeySetOptions } from './verification/key-set.ts';
export type { KeyTexts } from './verification/keys.ts';
export {
  createVerifier,
  type Callback,
  type VerificationKeys,
  type Verifier,
  type VerifierOptions,
} from './verification/verifier.ts';
