import { Faults } from './faults-schema.ts';
import type { SandboxApp, SandboxDeps } from './sandbox-app.ts';
import { SimulationBody } from './simulation.ts';

/** `/_sandbox/faults`, `/_sandbox/simulation` and `/_sandbox/requests`. */
export function addControlRoutes(
  app: SandboxApp,
  { injector, simulator, counter }: Pick<SandboxDeps, 'injector' | 'simulator' | 'counter'>,
): void {
  const presentFaults = () => ({ faults: injector.faults, concerned: injector.concerned });

  app.get('/faults', presentFaults);
  app.put('/faults', { schema: { body: Faults } }, (request) => {
    injector.set(request.body);
    return presentFaults();
  });

  app.get('/simulation', () => simulator.state());
  app.put('/simulation', { schema: { body: SimulationBody } }, (request) => {
    simulator.set(request.body);
    return simulator.state();
  });

  app.get('/requests', () => counter.counts());
  app.delete('/requests', (_request, reply) => {
    counter.reset();
    return reply.code(204).send();
  });
}
