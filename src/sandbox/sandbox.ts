import { TypeBoxValidatorCompiler, type TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import fastify from 'fastify';
import { type FastifyBaseLogger } from 'fastify';
import { addAccountRoutes } from './routes/account-routes.ts';
import { builtInKeys, createAccounts, type PartnerKey } from './accounts.ts';
import { addControlFilingRoutes } from './routes/control-filing-routes.ts';
import { addControlRoutes } from './routes/control-routes.ts';
import {
  defaultKey,
  idLengthMax,
  idleConnectionMs,
  jsonBodyBytesMax,
  lateRequestCheckMs,
  requestTimeoutDefaultMs,
} from './decisions.ts';
import { addErrorHandlers, answerBrokenConnection, sendError } from './server/error-handler.ts';
import { addFaultHooks } from './faults/fault-hooks.ts';
import { createFaultInjector } from './faults/faults.ts';
import { addFilingRoutes } from './routes/filing-routes.ts';
import { createFilingStore } from './filings/filing-store.ts';
import { addKeyCheck, watchMethods, takeNullAsAbsent } from './server/scope-hooks.ts';
import { type Random } from './random.ts';
import { createRequestCounter } from './server/request-counter.ts';
import { type SandboxApp, type SandboxDeps } from './sandbox-app.ts';
import { addSeedRoute } from './routes/seed-routes.ts';
import { createSimulator } from './simulation/simulator.ts';
import { addStorageRoute, addUploadTicketRoute } from './routes/upload-routes.ts';
import { createUploads } from './filings/uploads.ts';

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

/**
 * A partner service in memory, as a Fastify instance that does not listen yet: `listen` or `inject` it. The
 * service is under `/v1`, the control interface under `/_sandbox`. `close` ends the simulation and every
 * response that a fault holds back.
 */
export function createSandbox(options: SandboxOptions = {}): SandboxApp {
  const deps = createDeps(options);
  const app = createApp(options);
  app.removeContentTypeParser('text/plain');
  addErrorHandlers(app);
  app.get('/', () => selfDescription);
  app.register((scope, _options, done) => done(addService(scope, deps)), { prefix: '/v1' });
  app.register((scope, _options, done) => done(addStorage(scope, deps)));
  app.register((scope, _options, done) => done(addControl(scope, deps)), { prefix: '/_sandbox' });
  app.addHook('onClose', async () => deps.simulator.stop());
  return app;
}

const selfDescription = {
  name: 'filing-webhooks sandbox',
  what: 'A partner service in memory for writing and testing clients; nothing here is filed with any state.',
  baseUrl: '/v1',
  control: [
    'GET/PUT/DELETE /_sandbox/filings/{id}',
    'GET/DELETE /_sandbox/filings',
    'POST /_sandbox/seed',
    'GET/PUT /_sandbox/faults',
    'GET/PUT /_sandbox/simulation',
    'GET/PUT /_sandbox/uploads',
    'GET/DELETE /_sandbox/requests',
  ],
  documentation: 'docs/sandbox.md',
};

function createDeps(options: SandboxOptions): SandboxDeps {
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

function createApp({ logger, requestTimeoutMs = requestTimeoutDefaultMs }: SandboxOptions): SandboxApp {
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

function addService(app: SandboxApp, deps: SandboxDeps): undefined {
  const refuseOtherMethods = watchMethods(app);
  addFaultHooks(app, deps);
  addKeyCheck(app, deps.accounts);
  addErrorHandlers(app);
  takeNullAsAbsent(app);
  addAccountRoutes(app);
  addUploadTicketRoute(app, deps);
  addFilingRoutes(app, deps);
  refuseOtherMethods();
}

function addStorage(app: SandboxApp, deps: SandboxDeps): undefined {
  const refuseOtherMethods = watchMethods(app);
  addFaultHooks(app, deps);
  addStorageRoute(app, deps);
  refuseOtherMethods();
}

function addControl(app: SandboxApp, deps: SandboxDeps): undefined {
  const refuseOtherMethods = watchMethods(app);
  addControlFilingRoutes(app, deps);
  addSeedRoute(app, deps);
  addControlRoutes(app, deps);
  refuseOtherMethods();
}
