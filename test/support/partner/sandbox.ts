import { createSandbox } from '../../../src/sandbox/sandbox.ts';
import { openApi } from '../api/api-caller.ts';

/** The partner service sandbox over HTTP, and its control interface. */
export interface TestSandbox extends AsyncDisposable {
  /** For PARTNER_BASE_URL; the key is `sandbox-key`. */
  readonly baseUrl: string;
  /** Sets a filing's status, creating the filing where there is none; other fields are merged into it. */
  set(id: string, fields: Record<string, unknown>): Promise<void>;
  /** Forgets a filing: the service answers 404 for it. */
  forget(id: string): Promise<void>;
  seed(count: number): Promise<void>;
  faults(faults: Record<string, unknown>): Promise<void>;
}

/** Starts a sandbox on a free loopback port. */
export async function startSandbox(): Promise<TestSandbox> {
  const app = createSandbox();
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const control = openApi(url, null);
  return {
    baseUrl: `${url}/v1`,
    set: async (id, fields) => void (await control.ok('PUT', `/_sandbox/filings/${id}`, fields)),
    forget: async (id) => void (await control.ok('DELETE', `/_sandbox/filings/${id}`)),
    seed: async (count) => void (await control.ok('POST', '/_sandbox/seed', { count })),
    faults: async (faults) => void (await control.ok('PUT', '/_sandbox/faults', faults)),
    async [Symbol.asyncDispose]() {
      await app.close();
    },
  };
}
