import { setImmediate as nextTurn } from 'node:timers/promises';
import { Type, type Static } from 'typebox';
import { statesOf } from '../accounts.ts';
import { seedCountMax } from '../decisions.ts';
import { type Filing } from '../filings/filing.ts';
import { createRandom } from '../random.ts';
import { sampleCreation, sampleFiling, sampleStatus, unusedId } from '../simulation/sample-filings.ts';
import { type SandboxApp, type SandboxDeps } from '../sandbox-app.ts';

const SeedBody = Type.Object(
  {
    count: Type.Integer({ minimum: 1, maximum: seedCountMax }),
    status: Type.Optional(Type.String({ minLength: 1 })),
    owner: Type.Optional(Type.String({ minLength: 1 })),
    seed: Type.Optional(Type.Integer()),
  },
  { additionalProperties: false },
);

type SeedRequest = Static<typeof SeedBody>;
type Deps = Pick<SandboxDeps, 'accounts' | 'store' | 'now' | 'random'>;

const turnFilings = 2_000;

/** `POST /_sandbox/seed`: many filings as an account has them after a while. */
export function addSeedRoute(app: SandboxApp, deps: Deps): void {
  app.post('/seed', { schema: { body: SeedBody } }, async (request, reply) => {
    const owner = request.body.owner ?? deps.accounts.defaultOwner;
    const filings = await sampleFilings(deps, request.body, owner);
    deps.store.addMany(filings);
    return reply.code(201).send({ created: filings.length, owner, total: deps.store.select({ owner }).size });
  });
}

// Pauses for other requests; the filings appear all at once.
async function sampleFilings(deps: Deps, request: SeedRequest, owner: string): Promise<Filing[]> {
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
