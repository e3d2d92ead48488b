import pino from 'pino';
import { stopOnSignals } from '../daemon/stop-on-signals.ts';
import { createSandbox } from './sandbox.ts';
import { parseSandboxConfig } from './sandbox-config.ts';

// sysexits.h: EX_CONFIG.
const badConfiguration = 78;

/** Milliseconds after which the process ends although connections are still open. */
const closeTimeoutMs = 5_000;

const parsed = parseSandboxConfig(process.env);
if (!parsed.ok) {
  process.stderr.write(
    `The sandbox cannot start:\n${parsed.problems.map((problem) => `- ${problem}\n`).join('')}`,
  );
  process.exit(badConfiguration);
}
const { host, port, keys } = parsed.config;
const logger = pino({ name: 'sandbox' });
const app = createSandbox({ keys, logger: logger.child({}, { level: 'error' }) });
stopOnSignals().signal.addEventListener('abort', () => {
  setTimeout(() => process.exit(1), closeTimeoutMs).unref();
  void app.close().then(() => process.exit(0));
});
try {
  const url = await app.listen({ host, port });
  logger.info({ url, baseUrl: `${url}/v1`, control: `${url}/_sandbox` }, 'sandbox is listening');
} catch (error) {
  logger.fatal({ err: error, host, port }, 'sandbox cannot listen');
  process.exit(1);
}
