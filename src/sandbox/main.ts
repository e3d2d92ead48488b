import closeWithGrace from 'close-with-grace';
import pino from 'pino';
import { createSandbox } from './sandbox.ts';
import { parseSandboxConfig } from './sandbox-config.ts';

const EXIT_CONFIG = 78;
const CLOSE_TIMEOUT_MS = 5_000;

const parsed = parseSandboxConfig(process.env);
if (!parsed.ok) {
  process.stderr.write(
    `The sandbox cannot start:\n${parsed.problems.map((problem) => `- ${problem}\n`).join('')}`,
  );
  process.exit(EXIT_CONFIG);
}
const { host, port, keys } = parsed.config;
const logger = pino({ name: 'sandbox' });
const app = createSandbox({ keys, logger: logger.child({}, { level: 'error' }) });
closeWithGrace({ delay: CLOSE_TIMEOUT_MS, logger: false }, async () => app.close());
try {
  const url = await app.listen({ host, port });
  logger.info({ url, baseUrl: `${url}/v1`, control: `${url}/_sandbox` }, 'sandbox is listening');
} catch (error) {
  logger.fatal({ err: error, host, port }, 'sandbox cannot listen');
  process.exit(1);
}
