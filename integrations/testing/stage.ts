import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { provideRedis } from '../../src/demo/provide-redis.ts';
import type { ApiCaller } from '../../test/support/api/api-caller.ts';
import {
  apiToken,
  startDaemonProcess,
  type DaemonProcess,
} from '../../test/support/daemon/daemon-process.ts';
import { startSandbox, type TestSandbox } from '../../test/support/partner/sandbox.ts';

/** The product as an integration meets it: a sandbox, a Redis, and a daemon that polls the one and keeps all in the other. */
export interface Stage extends AsyncDisposable {
  /** Address of the daemon's API; it stays the same after `restart`. */
  readonly url: string;
  /** The operator's token. */
  readonly token: string;
  /** The watched account. */
  readonly account: string;
  /** The API as the operator. */
  readonly api: ApiCaller;
  readonly sandbox: TestSandbox;
  /** Ends the daemon with a signal (default SIGTERM) and starts it again on the same port and data. */
  restart(signal?: NodeJS.Signals): Promise<void>;
  /** Ends the daemon; `restart` starts it again. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

const account = 'default';

type Environment = Readonly<Record<string, string>>;

/**
 * Starts a stage and waits until the account's baseline is complete, so that every later change is an event. The
 * environment may follow from the address of the daemon, as PUBLIC_URL does.
 */
export async function startStage(
  environment: Environment | ((url: string) => Environment) = {},
): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(
    await provideRedis({
      env: { ...process.env, REDIS_URL: process.env['TEST_REDIS_URL'] ?? '' },
      log: () => undefined,
      allowEmulation: false,
      variable: 'TEST_REDIS_URL',
    }),
  );
  const sandbox = stack.use(await startSandbox());
  const settings = {
    REDIS_URL: redis.url,
    REDIS_PREFIX: `integration-${process.pid}-${Date.now()}`,
    REDIS_UNSAFE: 'true',
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    ...(typeof environment === 'function' ? await knownAddress(environment) : environment),
  };
  let daemon: DaemonProcess = await startDaemonProcess(settings);
  stack.defer(async () => void (await daemon.end('SIGKILL')));
  const port = new URL(daemon.url).port;
  await untilBaselined(daemon.api);
  const all = stack.move();
  return {
    url: daemon.url,
    token: apiToken,
    account,
    api: daemon.api,
    sandbox,
    async restart(signal = 'SIGTERM') {
      await daemon.end(signal);
      daemon = await startDaemonProcess({ ...settings, PORT: port });
    },
    stop: async (signal = 'SIGTERM') => void (await daemon.end(signal)),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Waits until `condition` gives something else than null or false; throws after `timeoutMs`. */
export async function until<T>(
  what: string,
  condition: () => Promise<T | null | false> | T | null | false,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const found = await condition();
    if (found !== null && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`${what}: not within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

// The environment of a daemon whose port is chosen before it starts.
async function knownAddress(environment: (url: string) => Environment): Promise<Environment> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return { PORT: String(port), ...environment(`http://127.0.0.1:${port}`) };
}

async function untilBaselined(api: ApiCaller): Promise<void> {
  await until('the baseline', async () => {
    const { health } = await api.ok<{ health: { state: string } }>('GET', `/v1/accounts/${account}`);
    return health.state === 'ok';
  });
}
