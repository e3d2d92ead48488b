import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type, type Static } from 'typebox';
import { statesOf } from '../accounts.ts';
import { seedCountMax } from '../decisions.ts';
import { Faults } from '../faults.ts';
import type { Filing } from '../filings/filing.ts';
import { createRandom } from '../random.ts';
import type { SandboxApp, SandboxDeps } from '../sandbox-app.ts';
import { sampleCreation, sampleFiling, sampleStatus, unusedId } from '../simulation/sample-filings.ts';
import { SimulationBody } from '../simulation/simulation.ts';

const SeedBody = Type.Object(
  {
    count: Type.Integer({ minimum: 1, maximum: seedCountMax }),
    status: Type.Optional(Type.String({ minLength: 1 })),
    owner: Type.Optional(Type.String({ minLength: 1 })),
    seed: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
);

const turnFilings = 2_000;

/**
 * `/_sandbox/faults`, `/_sandbox/simulation`, and `POST /_sandbox/seed`: many filings as an account has them
 * after a while.
 */
export function addControlRoutes(app: SandboxApp, deps: SandboxDeps): void {
  const { faults, simulator, accounts, store } = deps;
  app.get('/faults', () => ({ faults: faults.present() }));
  app.put('/faults', { schema: { body: Faults } }, (request) => {
    faults.set(request.body);
    return { faults: request.body };
  });

  app.get('/simulation', () => simulator.state());
  app.put('/simulation', { schema: { body: SimulationBody } }, (request) => {
    simulator.set(request.body);
    return simulator.state();
  });

  app.post('/seed', { schema: { body: SeedBody } }, async (request, reply) => {
    const owner = request.body.owner ?? accounts.defaultOwner;
    const filings = await sampleFilings(deps, request.body, owner);
    store.addMany(filings);
    return reply.code(201).send({ created: filings.length, owner, total: store.select({ owner }).size });
  });
}

// Pauses for other requests; the filings appear all at once.
async function sampleFilings(
  deps: SandboxDeps,
  request: Static<typeof SeedBody>,
  owner: string,
): Promise<Filing[]> {
  const random = request.seed === undefined ? deps.random : createRandom(request.seed);
  const states = statesOf(deps.accounts.byOwner(owner));
  const nowMs = deps.now();
  const filings: Filing[] = [];
  while (filings.length < request.count) {
    const status = request.status ?? sampleStatus(random);
    const createdAtMs = sampleCreation(random, status, nowMs);
    const id = unusedId(deps.store, random);
    filings.push(sampleFiling(random, { id, owner, states, status, createdAtMs, nowMs }));
    // oxlint-disable-next-line no-await-in-loop -- the point is to pause between the parts
    if (filings.length % turnFilings === 0) await nextTurn();
  }
  return filings;
}
