import { TypeBoxValidatorCompiler, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify, { type FastifyBaseLogger, type FastifyRequest } from 'fastify';
import { builtInKeys, createAccounts, type Account, type PartnerKey } from './accounts.ts';
import {
  defaultKey,
  idLengthMax,
  idleConnectionMs,
  jsonBodyBytesMax,
  lateRequestCheckMs,
  requestTimeoutDefaultMs,
} from './decisions.ts';
import { SandboxError } from './errors.ts';
import { createFaultInjector } from './faults/faults.ts';
import { createFilingStore } from './filings/filing-store.ts';
import { findState, type FilingState } from './filings/filing-states.ts';
import { createUploads } from './filings/uploads.ts';
import { type Random } from './random.ts';
import { answerBrokenConnection, sendError } from './server/error-handler.ts';
import { createRequestCounter } from './server/request-counter.ts';
import { createSimulator } from './simulation/simulation.ts';

/** Options of a sandbox; each has a default. */
export interface SandboxOptions {
  /**
   * The partner keys; by default `sandbox-key` for the account `default` and `sandbox-key-2` for `second`.
   */
  readonly keys?: readonly PartnerKey[];
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Numbers in [0, 1), for everything random except secrets. */
  readonly random?: Random;
  /** Without a logger nothing is logged. */
  readonly logger?: FastifyBaseLogger;
  /** Milliseconds within which a request must have arrived; a later one is answered with 408. */
  readonly requestTimeoutMs?: number;
}

/** All parts of the sandbox; each route file names those that it uses. */
export type SandboxDeps = Readonly<ReturnType<typeof createDeps>>;

/** The Fastify instance of the routes: bodies and parameters have the types of their schemas. */
export type SandboxApp = ReturnType<typeof createApp>;

/** Makes all parts of a sandbox, without filings and faults. */
export function createDeps(options: SandboxOptions) {
  const { keys = builtInKeys(defaultKey), now = Date.now, random = Math.random } = options;
  const accounts = createAccounts(keys);
  const store = createFilingStore();
  return {
    accounts,
    store,
    uploads: createUploads({ now, random }),
    injector: createFaultInjector({ now, random }),
    counter: createRequestCounter(now),
    simulator: createSimulator({ store, accounts, now, random }),
    now,
    random,
  };
}

/** Makes the Fastify instance of a sandbox, without routes; it does not listen yet. */
export function createApp({ logger, requestTimeoutMs = requestTimeoutDefaultMs }: SandboxOptions) {
  return fastify({
    ...(logger === undefined ? { logger: false } : { loggerInstance: logger }),
    bodyLimit: jsonBodyBytesMax,
    requestTimeout: requestTimeoutMs,
    // By default, Node allows headers twice the time and looks for late ones every half minute only.
    http: {
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(lateRequestCheckMs, requestTimeoutMs),
    },
    connectionTimeout: idleConnectionMs,
    return503OnClosing: false,
    routerOptions: { maxParamLength: idLengthMax },
    frameworkErrors: sendError,
    clientErrorHandler: answerBrokenConnection,
  })
    .setValidatorCompiler(TypeBoxValidatorCompiler)
    .withTypeProvider<TypeBoxTypeProvider>();
}

/** The account of the request's key; only for routes behind the key check. */
export function accountOf(request: FastifyRequest): Account {
  return request.getDecorator<Account>('account');
}

/**
 * The state with that abbreviation if the account may file in it; throws 404 for an unknown one, 403 for
 * another.
 */
export function enabledState(account: Account, stateAbbr: string): FilingState {
  const state = findState(stateAbbr);
  if (state === undefined) {
    throw new SandboxError(
      'UNKNOWN_STATE',
      `there is no filing state ${JSON.stringify(stateAbbr.slice(0, 100))}`,
    );
  }
  return assertEnabled(account, state);
}

/** Returns the state; throws 403 when the account may not file in it. */
export function assertEnabled(account: Account, state: FilingState): FilingState {
  if (account.enabledStates.includes(state.stateAbbr)) return state;
  throw new SandboxError('STATE_NOT_ENABLED', `this account may not file in ${state.stateAbbr}`);
}
