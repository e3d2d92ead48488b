import { Type } from 'typebox';
import { uploadUrlLifetimeMs } from '../decisions.ts';
import { Faults } from '../faults/faults-schema.ts';
import type { SandboxApp, SandboxDeps } from '../sandbox-app.ts';
import { SimulationBody } from '../simulation/simulation.ts';

const UploadsBody = Type.Object(
  { lifetimeMs: Type.Optional(Type.Integer({ minimum: 0, maximum: uploadUrlLifetimeMs })) },
  { additionalProperties: false },
);

/** `/_sandbox/faults`, `/_sandbox/simulation`, `/_sandbox/uploads` and `/_sandbox/requests`. */
export function addControlRoutes(app: SandboxApp, deps: SandboxDeps): void {
  const { injector, simulator, uploads, counter } = deps;
  app.get('/faults', () => injector.state());
  app.put('/faults', { schema: { body: Faults } }, (request) => {
    injector.set(request.body);
    return injector.state();
  });

  app.get('/simulation', () => simulator.state());
  app.put('/simulation', { schema: { body: SimulationBody } }, (request) => {
    simulator.set(request.body);
    return simulator.state();
  });

  app.get('/uploads', () => ({ lifetimeMs: uploads.lifetimeMs() }));
  app.put('/uploads', { schema: { body: UploadsBody } }, (request) => {
    uploads.setLifetime(request.body.lifetimeMs ?? uploadUrlLifetimeMs);
    return { lifetimeMs: uploads.lifetimeMs() };
  });

  app.get('/requests', () => counter.counts());
  app.delete('/requests', (_request, reply) => {
    counter.reset();
    return reply.code(204).send();
  });
}
