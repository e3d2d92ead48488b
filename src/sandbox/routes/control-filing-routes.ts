import { Type, type Static } from 'typebox';
import { statesOf } from '../accounts.ts';
import { endpoints } from '../server/endpoints.ts';
import { SandboxError, filingNotFound, invalidInput } from '../errors.ts';
import { withStatus, type Filing } from '../filings/filing.ts';
import { listPage } from '../lists/list-page.ts';
import { readListQuery } from '../lists/list-query.ts';
import { sampleFiling } from '../simulation/sample-filings.ts';
import { type SandboxApp, type SandboxDeps } from '../sandbox-app.ts';

const NullableText = Type.Union([Type.Null(), Type.String()]);
const IdParams = Type.Object({ id: Type.String({ minLength: 1 }) });
const ListQuery = Type.Object({ owner: Type.Optional(Type.String()) }, { additionalProperties: true });

// Further fields go into the filing as they are: tests need filings that the real service would not return.
const PutFilingBody = Type.Object(
  {
    status: Type.String({ minLength: 1 }),
    rejectionReason: Type.Optional(NullableText),
    completedAt: Type.Optional(NullableText),
    owner: Type.Optional(Type.String({ minLength: 1 })),
  },
  { additionalProperties: true },
);

type PutFiling = Static<typeof PutFilingBody>;
type Deps = Pick<SandboxDeps, 'accounts' | 'store' | 'now' | 'random'>;

/**
 * `/_sandbox/filings`: any account's filings, read, made, changed and removed without the rules of the
 * service.
 */
export function addControlFilingRoutes(app: SandboxApp, deps: Deps): void {
  app.get('/filings', { schema: { querystring: ListQuery } }, (request) => {
    const query = readListQuery(request.query);
    const view = deps.store.select({ ...query, owner: request.query.owner });
    return listPage(view, query, {}, deps.random);
  });

  app.delete('/filings', (_request, reply) => {
    deps.store.clear();
    return reply.code(204).send();
  });

  app.get('/filings/:id', { schema: { params: IdParams } }, ({ params: { id } }) => {
    const filing = deps.store.get(id);
    if (filing === undefined) throw filingNotFound(id);
    return filing;
  });

  app.put('/filings/:id', { schema: { params: IdParams, body: PutFilingBody } }, (request, reply) => {
    const { id } = request.params;
    refuseReservedIds(id, request.body);
    const known = deps.store.get(id);
    const filing = editedFiling(known ?? blankFiling(deps, id, request.body.owner), request.body, deps.now());
    deps.store.put(filing);
    return reply.code(known === undefined ? 201 : 200).send(filing);
  });

  app.delete('/filings/:id', { schema: { params: IdParams } }, ({ params: { id } }, reply) => {
    if (!deps.store.remove(id)) throw filingNotFound(id);
    return reply.code(204).send();
  });
}

/** The filing after an edit: status with its reason and time, owner, and any other field verbatim. */
function editedFiling(filing: Filing, edit: PutFiling, nowMs: number): Filing {
  const { status, rejectionReason, completedAt, owner, ...fields } = edit;
  const changed = withStatus(filing, { status, rejectionReason, completedAt }, nowMs);
  return { ...changed, userId: owner ?? filing.userId, ...fields };
}

function blankFiling(deps: Deps, id: string, owner = deps.accounts.defaultOwner): Filing {
  const nowMs = deps.now();
  const states = statesOf(deps.accounts.byOwner(owner));
  return sampleFiling(deps.random, { id, owner, states, status: 'UNPAID', createdAtMs: nowMs, nowMs });
}

function refuseReservedIds(id: string, body: PutFiling): void {
  if (endpoints.some((endpoint) => endpoint === id)) {
    throw new SandboxError('INVALID_REQUEST', `GET /v1/partner/${id} is an endpoint; choose another id`);
  }
  if ('id' in body) throw invalidInput([{ field: 'id', message: 'is given by the path' }]);
  if ('userId' in body) throw invalidInput([{ field: 'userId', message: 'is given as owner' }]);
}
