import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  type RawServerDefault,
} from 'fastify';
import { type Account, type Accounts } from './accounts.ts';
import { SandboxError } from './errors.ts';
import { type FaultInjector } from './faults/faults.ts';
import { type FilingStore } from './filings/filing-store.ts';
import { findState, type FilingState } from './filings/filing-states.ts';
import { type Random } from './random.ts';
import { type RequestCounter } from './server/request-counter.ts';
import { type Simulator } from './simulation/simulator.ts';
import { type Uploads } from './filings/uploads.ts';

/** The Fastify instance of the routes: bodies and parameters have the types of their schemas. */
export type SandboxApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** All parts of the sandbox; each route file names those that it uses. */
export interface SandboxDeps {
  readonly accounts: Accounts;
  readonly store: FilingStore;
  readonly uploads: Uploads;
  readonly injector: FaultInjector;
  readonly counter: RequestCounter;
  readonly simulator: Simulator;
  readonly now: () => number;
  readonly random: Random;
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
