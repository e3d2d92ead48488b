import { addFaultHooks } from './faults/fault-hooks.ts';
import { addAccountRoutes } from './routes/account-routes.ts';
import { addControlFilingRoutes } from './routes/control-filing-routes.ts';
import { addControlRoutes } from './routes/control-routes.ts';
import { addFilingRoutes } from './routes/filing-routes.ts';
import { addSeedRoute } from './routes/seed-routes.ts';
import { addStorageRoute, addUploadTicketRoute } from './routes/upload-routes.ts';
import { createApp, createDeps } from './sandbox-app.ts';
import type { SandboxApp, SandboxDeps, SandboxOptions } from './sandbox-app.ts';
import { addErrorHandlers } from './server/error-handler.ts';
import { addKeyCheck, addRoutesRefusingOthers, takeNullAsAbsent } from './server/scope-hooks.ts';

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
  const addScope = (prefix: string, add: typeof addService): void => {
    app.register(async (scope: SandboxApp) => addRoutesRefusingOthers(scope, () => add(scope, deps)), {
      prefix,
    });
  };
  addScope('/v1', addService);
  addScope('', addStorage);
  addScope('/_sandbox', addControl);
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

function addService(app: SandboxApp, deps: SandboxDeps): void {
  addFaultHooks(app, deps);
  addKeyCheck(app, deps.accounts);
  addErrorHandlers(app);
  takeNullAsAbsent(app);
  addAccountRoutes(app);
  addUploadTicketRoute(app, deps);
  addFilingRoutes(app, deps);
}

function addStorage(app: SandboxApp, deps: SandboxDeps): void {
  addFaultHooks(app, deps);
  addStorageRoute(app, deps);
}

function addControl(app: SandboxApp, deps: SandboxDeps): void {
  addControlFilingRoutes(app, deps);
  addSeedRoute(app, deps);
  addControlRoutes(app, deps);
}
