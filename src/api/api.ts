import cookie from '@fastify/cookie';
import helmet from '@fastify/helmet';
import { defaultLimits, limitOpenRoutes } from './access/limits.ts';
import { limitDearRequests } from './access/dear-requests.ts';
import { addAccountRoutes } from './accounts/accounts.ts';
import { addSettingRoutes } from './accounts/settings.ts';
import type { Api, ApiDeps } from './deps.ts';
import { addAccountCheck, addAuth } from './access/auth.ts';
import { addIdCheck } from './access/path-ids.ts';
import { createInstance, type InstanceDeps } from './server/create-instance.ts';
import { addAttemptRoutes } from './delivery/attempts.ts';
import { addCallRoutes } from './delivery/calls.ts';
import { addDeadLetterRoute } from './delivery/dead-letters.ts';
import { addEventDeliveryRoute } from './delivery/event-deliveries.ts';
import { addDocsRoutes } from './operation/docs-routes.ts';
import { addEventRoutes } from './events/events.ts';
import { addEventTypeRoutes } from './document/event-types.ts';
import { addAnswerRoutes } from './filings/answers.ts';
import { addDraftRoute } from './filings/draft.ts';
import { addFilingRoutes } from './filings/filings.ts';
import { addHealthRoutes, type HealthDeps } from './operation/health.ts';
import { recordRoutes, refuseOtherMethods } from './server/http-rules.ts';
import type { RouteTable } from './server/http-rules.ts';
import { addOpenApi } from './document/open-api.ts';
import { addProblemRoutes } from './operation/problem-pages.ts';
import { addPublicKeyRoutes } from './subscriptions/public-keys.ts';
import { addTriageRoutes } from './filings/triage.ts';
import { addRejectionRoutes } from './filings/rejections.ts';
import { addReplayRoutes } from './delivery/replays.ts';
import { addSendRoute } from './filings/send.ts';
import { addSessionRoutes } from './access/session.ts';
import { addStreamRoutes } from './events/stream.ts';
import { addPreviewRoute } from './subscriptions/preview.ts';
import { addRegistrationRoute } from './subscriptions/register.ts';
import { addSubscriptionRoutes } from './subscriptions/subscriptions.ts';
import { addTokenRoutes } from './tokens.ts';
import { addOwnCheck } from './access/own-subscriptions.ts';
import { invalidRequest, invalidValue } from './shared/problem.ts';
import { record } from './shared/schema.ts';

const noQuery = record({});

/** The resources of an account. */
const ofAccount: readonly ((app: Api, deps: ApiDeps) => void)[] = [
  addTokenRoutes,
  addRegistrationRoute,
  addSubscriptionRoutes,
  addPreviewRoute,
  addDeadLetterRoute,
  addCallRoutes,
  addAttemptRoutes,
  addReplayRoutes,
  addEventRoutes,
  addEventDeliveryRoute,
  addStreamRoutes,
  addFilingRoutes,
  addAnswerRoutes,
  addSendRoute,
  addDraftRoute,
  addTriageRoutes,
];

/**
 * The API as a Fastify instance that does not listen yet: `listen` or `inject` it. `close` ends the event
 * streams.
 */
export async function createApi(deps: ApiDeps): Promise<Api> {
  const app = createInstance(deps);
  const routes = recordRoutes(app);
  app.decorate('routeTable', routes);
  await app.register(helmet, securityHeaders);
  await app.register(cookie, { hook: false });
  limitOpenRoutes(app, deps);
  await addOpenApi(app, deps);
  await app.register(async (scope) => addOpenRoutes(scope as Api, deps, routes));
  await app.register((scope) => addGuardedRoutes(scope as Api, deps, routes), { prefix: '/v1' });
  return app;
}

/**
 * Health and metrics of the API and nothing else, for a port of their own: a Fastify instance that does not
 * listen yet.
 */
export async function createMonitoring(deps: InstanceDeps & HealthDeps): Promise<Api> {
  const app = createInstance(deps);
  const routes = recordRoutes(app);
  await app.register(helmet, securityHeaders);
  limitOpenRoutes(app, deps);
  addHealthRoutes(app, deps);
  refuseOtherMethods(app, routes, '');
  return app;
}

/** For helmet. Responses are data: a browser must not run, frame or keep anything in them. */
const securityHeaders = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  referrerPolicy: { policy: 'no-referrer' as const },
  strictTransportSecurity: false, // set by the proxy that terminates TLS
  // For Internet Explorer and Flash, which are gone; the page loads some fifty files.
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
};

async function addOpenRoutes(app: Api, deps: ApiDeps, routes: RouteTable): Promise<void> {
  addHealthRoutes(app, deps);
  await addDocsRoutes(app, deps.door !== undefined);
  addProblemRoutes(app);
  addPublicKeyRoutes(app, deps);
  if (deps.dashboard !== undefined) await app.register(deps.dashboard);
  refuseOtherMethods(app, routes, '');
}

async function addGuardedRoutes(app: Api, deps: ApiDeps, routes: RouteTable): Promise<void> {
  // A query that is ignored would be taken for one that has an effect, such as `?dryRun=true`.
  app.addHook('onRoute', (route) => {
    if (route.config?.refusesMethod !== true) route.schema = { querystring: noQuery, ...route.schema };
  });
  const { publicUrl = null } = deps;
  app.addHook('onSend', async (_request, reply) => {
    void reply.header('cache-control', 'no-store');
    const location = reply.getHeader('location');
    // With PUBLIC_URL a client finds what it made by the address alone, also behind a proxy that adds a path.
    if (publicUrl !== null && typeof location === 'string' && location.startsWith('/'))
      void reply.header('location', `${publicUrl}${location}`);
  });
  limitDearRequests(app, { ...defaultLimits, ...deps.limits });
  const signIn = addAuth(app, deps);
  addIdCheck(app);
  addAccountCheck(app, deps);
  addOwnCheck(app, deps);
  app.addHook('preValidation', async (request) => {
    const { config, schema } = request.routeOptions;
    if (config.bodyOptional === true && request.body === undefined) request.body = {};
    if (schema?.body === undefined) refuseBody(request.body);
  });
  addSessionRoutes(app, deps, signIn);
  addAccountRoutes(app, deps);
  addSettingRoutes(app, deps);
  await app.register(async (scope) => ofAccount.forEach((add) => add(scope, deps)), {
    prefix: '/accounts/:account',
  });
  addEventTypeRoutes(app);
  addRejectionRoutes(app, deps);
  refuseOtherMethods(app, routes, '/v1');
}

// A route without a body would silently ignore one, such as `{"mode":"sweep"}` that belongs in the query.
function refuseBody(body: unknown): void {
  if (body === undefined) return;
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalidValue('', 'This request takes no body');
  const message = 'is not known: this request takes no body';
  const fields = Object.keys(body);
  if (fields.length > 0) throw invalidRequest(fields.map((path) => ({ path, message })));
}
