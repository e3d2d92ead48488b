import { parseMailSender, parseSmtpServer } from '../egress/smtp-server.ts';
import { parseProxyAddress } from '../proxy/proxy-address.ts';
import * as parsers from './value-parsers.ts';
import type { ValueParser } from './value-parsers.ts';

/** One environment variable; docs/configuration.md explains it to operators. */
export type Variable<T> = {
  readonly parse: ValueParser<T>;
  /** The default as text; null for none. */
  readonly default: string | null;
  /** A valid value, shown when the given one is wrong. */
  readonly example: string;
  /** Whether the daemon refuses to start without it. */
  readonly required: boolean;
};

const day = 86_400_000;
const kibibyte = 1_024;
// pino's levels, and `silent`.
const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
// The samplers of OpenTelemetry that are supported.
const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
const retryDelays = '5000,300000,1800000,7200000,18000000,36000000,50400000,72000000,86400000';

/** Every variable that the daemon reads; docs/configuration.md explains each. */
export const variables = {
  // A daemon without it runs a server of its own in DATA_DIR, and then has the address of that one.
  REDIS_URL: required(parsers.redisUrl, 'redis://127.0.0.1:6379'),
  DATA_DIR: withDefault(
    parsers.matching(/^\P{Cc}{1,4096}$/u, 'must be the path of a folder'),
    './data',
    '/var/lib/filing-webhooks',
  ),
  REDIS_PREFIX: withDefault(
    parsers.matching(/^[A-Za-z0-9._-]{1,64}$/, 'must be 1 to 64 letters, digits, dots, - and _'),
    'fw',
    'fw-staging',
  ),
  REDIS_UNSAFE: withDefault(parsers.boolean, 'false'),
  REDIS_WAIT_REPLICAS: withDefault(parsers.integer(0, 16), '0', '1'),
  HOST: withDefault(parsers.listenHost, '127.0.0.1', '0.0.0.0'),
  PORT: withDefault(parsers.integer(0, 65_535), '3000'),
  METRICS_PORT: optional(parsers.integer(0, 65_535), '9464'),
  METRICS_PER_ACCOUNT: withDefault(parsers.oneOf(['auto', 'true', 'false']), 'auto', 'false'),
  TRUSTED_PROXIES: optional(parsers.cidrs, '10.0.0.0/8'),
  PUBLIC_URL: optional(parsers.baseUrl, 'https://filings.example.com'),
  FRAME_ANCESTORS: optional(parsers.origins, 'https://intranet.example.com'),
  // Wider than the token68 of RFC 6750 §2.1, yet one word of a header.
  API_TOKEN: required(
    parsers.matching(/^[\x21-\x7e]{24,512}$/, 'must be 24 to 512 visible ASCII characters without spaces'),
    '$(openssl rand -hex 24)',
  ),
  ENCRYPTION_KEY: required(parsers.encryptionKeys, '$(openssl rand -base64 32)'),
  PARTNER_BASE_URL: optional(parsers.baseUrl, 'https://partner.example.com/v1'),
  PARTNER_KEY: optional(
    parsers.matching(/^[\x21-\x7e]{1,1024}$/, 'must be 1 to 1024 visible ASCII characters without spaces'),
    'the-key-of-your-account',
  ),
  POLL_INTERVAL_MS: withDefault(parsers.integer(10, day), '15000'),
  SWEEP_INTERVAL_MS: withDefault(parsers.integer(10, 30 * day), '900000'),
  REJECTION_LOOK_MS: optional(parsers.integer(0, day), '5000'),
  PARTNER_MAX_RPS: withDefault(parsers.integer(1, 1_000), '10'),
  PARTNER_TOTAL_RPS: optional(parsers.integer(1, 10_000), '50'),
  PARTNER_CONCURRENCY: withDefault(parsers.integer(1, 64), '4'),
  PARTNER_TIMEOUT_MS: withDefault(parsers.integer(10, 600_000), '10000'),
  DELIVERY_TIMEOUT_MS: withDefault(parsers.integer(10, 600_000), '15000'),
  DELIVERY_RETRY_MS: withDefault(parsers.integers(1, 30 * day, 50), retryDelays, '5000,300000,1800000'),
  DELIVERY_MAX_IN_FLIGHT: withDefault(parsers.integer(1, 1_000), '64'),
  DELIVERY_ALLOW_CIDRS: optional(parsers.cidrs, '127.0.0.0/8,::1/128'),
  DELIVERY_ALLOW_HTTP: withDefault(parsers.boolean, 'false', 'true'),
  DELIVERY_ATTEMPT_DETAILS: withDefault(parsers.oneOf(['none', 'failures', 'all']), 'failures', 'all'),
  DELIVERY_DISABLE_AFTER_MS: withDefault(parsers.integer(10, 366 * day), '432000000'),
  REQUIRE_VERIFICATION: withDefault(parsers.boolean, 'false', 'true'),
  VERIFICATION_EXEMPT_HOSTS: optional(parsers.hostPatterns, 'hooks.slack.com,*.example.com'),
  SMTP_URL: optional(parseSmtpServer, 'smtps://user:password@smtp.example.com'),
  SMTP_FROM: optional(parseMailSender, 'Filing alerts <alerts@example.com>'),
  SMTP_ALLOW_DOMAINS: optional(parsers.hostPatterns, 'agency.example,*.agency.example'),
  // Its maximum is the number of bytes that the partner client reads of one response.
  FILING_MAX_BYTES: withDefault(parsers.integer(kibibyte, 2_048 * kibibyte), '262144'),
  LOG_MAX_BYTES: withDefault(parsers.integer(1024 * kibibyte, 2 ** 40), '268435456'),
  ATTEMPTS_MAX_BYTES: withDefault(parsers.integer(64 * kibibyte, 2 ** 40), '25165824'),
  EVENT_RETENTION_MS: withDefault(parsers.integer(10, 3_660 * day), '2592000000'),
  EGRESS_PROXY: optional(parseProxyAddress, 'http://proxy.example.com:3128'),
  EGRESS_PROXY_RESOLVES: withDefault(parsers.boolean, 'false', 'true'),
  PARTNER_PROXY: optional(parseProxyAddress, 'http://proxy.example.com:3128'),
  NO_PROXY: optional(parsers.noProxy, '.internal.example.com,10.0.0.0/8'),
  ROLES: withDefault(parsers.roleSet, 'api,poll,deliver', 'poll,deliver'),
  LOG_LEVEL: withDefault(parsers.oneOf(logLevels), 'info'),
  // Names and meaning are OpenTelemetry's.
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(parsers.baseUrl, 'http://127.0.0.1:4318'),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: optional(parsers.baseUrl, 'http://127.0.0.1:4318/v1/traces'),
  OTEL_EXPORTER_OTLP_HEADERS: optional(parsers.headerList, 'api-key=the-key-of-your-collector'),
  OTEL_SERVICE_NAME: withDefault(
    parsers.matching(/^[\x20-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters'),
    'filing-webhooks',
    'filing-webhooks-staging',
  ),
  OTEL_RESOURCE_ATTRIBUTES: optional(
    parsers.matching(/^[^=]+=/, 'must be name=value with commas between, the values percent-encoded'),
    'deployment.environment.name=staging',
  ),
  OTEL_TRACES_SAMPLER: withDefault(parsers.oneOf(samplers), 'parentbased_always_on', 'traceidratio'),
  OTEL_TRACES_SAMPLER_ARG: withDefault(parsers.share, '1', '0.1'),
};

function withDefault<T>(parse: ValueParser<T>, fallback: string, example = fallback) {
  return { parse, default: fallback, example, required: false } as const satisfies Variable<T>;
}

function required<T>(parse: ValueParser<T>, example: string) {
  return { parse, default: null, example, required: true } as const satisfies Variable<T>;
}

function optional<T>(parse: ValueParser<T>, example: string) {
  return { parse, default: null, example, required: false } as const satisfies Variable<T>;
}
