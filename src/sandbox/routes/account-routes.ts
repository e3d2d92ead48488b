import { Type } from 'typebox';
import { accountBody, statesOf } from '../accounts.ts';
import { SandboxError } from '../errors.ts';
import { quotePolicy } from '../filings/pricing.ts';
import { ratesFor } from '../filings/filing-states.ts';
import { CalculateBody } from '../filings/input-schema.ts';
import { accountOf, enabledState, type SandboxApp } from '../sandbox-app.ts';

const StatesQuery = Type.Object({ state: Type.Optional(Type.String()) });
const RatesParams = Type.Object({ state: Type.String(), type: Type.String() });

/**
 * `GET /partner/me`, `GET /partner/filing-states`, `POST /partner/calculate` and `GET
 * /partner/get-state-rates/{state}/{type}`.
 */
export function addAccountRoutes(app: SandboxApp): void {
  app.get('/partner/me', (request) => accountBody(accountOf(request)));

  app.get('/partner/filing-states', { schema: { querystring: StatesQuery } }, (request) => {
    const { state } = request.query;
    const account = accountOf(request);
    return state === undefined ? statesOf(account) : [enabledState(account, state)];
  });

  app.post('/partner/calculate', { schema: { body: CalculateBody } }, (request) => {
    const state = enabledState(accountOf(request), request.body.stateAbbr);
    return quotePolicy(ratesFor(state, request.body.filingType), request.body);
  });

  app.get('/partner/get-state-rates/:state/:type', { schema: { params: RatesParams } }, (request) => {
    const { state: stateAbbr, type } = request.params;
    const state = enabledState(accountOf(request), stateAbbr);
    if (type === 'new-business') return state.nbStateRates;
    if (type === 'endorsement') return state.edStateRates;
    throw new SandboxError('INVALID_REQUEST', 'the request is not valid', [
      { field: 'type', message: 'must be new-business or endorsement' },
    ]);
  });
}
