import { type FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { filingProblems } from '../filings/filing-problems.ts';
import { filingNotFound, invalidInput } from '../errors.ts';
import { faultPlanOf } from '../faults/fault-hooks.ts';
import { type Filing, filingStatuses, newFiling } from '../filings/filing.ts';
import { type FilingStore } from '../filings/filing-store.ts';
import { findStateById } from '../filings/filing-states.ts';
import { CreateFilingBody } from '../filings/input-schema.ts';
import { listPage } from '../lists/list-page.ts';
import { readListQuery } from '../lists/list-query.ts';
import { accountOf, assertEnabled, type SandboxApp, type SandboxDeps } from '../sandbox-app.ts';
import { unusedId } from '../simulation/sample-filings.ts';

const IdParams = Type.Object({ id: Type.String() });
const AnyQuery = Type.Record(Type.String(), Type.Unknown());

/** `POST /partner/create-filing`, `GET /partner/filings` and `GET /partner/{id}`. */
export function addFilingRoutes(
  app: SandboxApp,
  deps: Pick<SandboxDeps, 'store' | 'uploads' | 'now' | 'random'>,
): void {
  app.post('/partner/create-filing', { schema: { body: CreateFilingBody } }, (request) => {
    const { owner } = accountOf(request);
    const state = findStateById(request.body.filingStateId);
    if (state === undefined) {
      throw invalidInput([{ field: 'filingStateId', message: 'is no filing state' }]);
    }
    assertEnabled(accountOf(request), state);
    const problems = filingProblems(request.body, state, owner, deps.uploads.find);
    if (problems.length > 0) throw invalidInput(problems);
    const id = unusedId(deps.store, deps.random);
    const filing = newFiling(request.body, state, { id, owner, createdAtMs: deps.now() });
    deps.store.put(filing);
    return filing;
  });

  app.get('/partner/filings', { schema: { querystring: AnyQuery } }, (request) => {
    const query = readListQuery(request.query, filingStatuses);
    const view = deps.store.select({ ...query, owner: accountOf(request).owner });
    return listPage(view, query, faultPlanOf(request).list, deps.random);
  });

  app.get('/partner/:id', { schema: { params: IdParams } }, (request) =>
    ownFiling(deps.store, request, request.params.id),
  );
}

/** The account's own filing of that id; throws 404 for an unknown one and for one of another account. */
export function ownFiling(store: FilingStore, request: FastifyRequest, id: string): Filing {
  const filing = store.get(id);
  if (filing === undefined || filing.userId !== accountOf(request).owner) throw filingNotFound(id);
  return filing;
}
