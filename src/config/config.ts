import type { LogLevel, Role } from './value-parsers.ts';
import {
  findMisspelt,
  quotesProblem,
  textOf,
  type Environment,
  type MisspeltVariable,
} from './environment.ts';
import { variables, type Variable } from './variables.ts';
import type { NoProxy } from '../proxy/no-proxy.ts';
import type { ProxyAddress } from '../proxy/proxy-address.ts';
import type { EncryptionKey } from '../secrets/seal.ts';
import type { TracingSettings } from '../tracing/tracing.ts';

/** The settings of the operator. Times are milliseconds. */
export type Config = {
  readonly redis: {
    readonly url: string;
    readonly prefix: string;
    readonly unsafe: boolean;
    readonly waitReplicas: number;
  };
  readonly http: { readonly host: string; readonly port: number };
  /** Port that serves health and metrics, beside the API or without it; null for none. */
  readonly metricsPort: number | null;
  /** Whether each account has metrics of its own; `auto` decides by their number. */
  readonly metricsPerAccount: 'auto' | 'true' | 'false';
  /** Networks of the proxies whose `X-Forwarded-For` is trusted. */
  readonly trustedProxies: readonly string[];
  /** Address of the page as others open it, without a slash at its end; null where it is not known. */
  readonly publicUrl: string | null;
  /** Origins whose pages may show the page in a frame. */
  readonly frameAncestors: readonly string[];
  readonly apiToken: string;
  /** Newest first, at least one, ids unique. */
  readonly encryptionKeys: readonly EncryptionKey[];
  /**
   * The account `default`; null when the environment does not describe one. `baseUrl` has no slash at its
   * end.
   */
  readonly defaultAccount: { readonly baseUrl: string; readonly partnerKey: string } | null;
  readonly polling: {
    readonly pollIntervalMs: number;
    readonly sweepIntervalMs: number;
    /** Time between two looks at an account; 0 for none, null for a share of its poll interval. */
    readonly lookMs: number | null;
    readonly maxRps: number;
    /** Requests a second to one partner host, over all accounts and processes; null for no such bound. */
    readonly totalRps: number | null;
    readonly concurrency: number;
    readonly timeoutMs: number;
  };
  readonly delivery: {
    readonly timeoutMs: number;
    /** Delays after the 1st, 2nd … failed attempt, before jitter; at least one. */
    readonly retryMs: readonly number[];
    readonly maxInFlight: number;
    readonly allowCidrs: readonly string[];
    readonly allowHttp: boolean;
    readonly disableAfterMs: number;
    /** Which attempts keep more than their outcome. */
    readonly attemptDetails: 'none' | 'failures' | 'all';
  };
  readonly proxies: {
    /** The forward proxy for callbacks and all else that goes to receivers; null for none. */
    readonly egress: ProxyAddress | null;
    /** Whether that proxy resolves names. */
    readonly egressResolves: boolean;
    /** The forward proxy for polls; null for none. */
    readonly partner: ProxyAddress | null;
    readonly noProxy: NoProxy;
  };
  /** Whether endpoints must be verified before anything is sent, and the hosts of which that is not asked. */
  readonly verification: { readonly required: boolean; readonly exemptHosts: readonly string[] };
  /** Maximum bytes of a filing, as JSON, that its events carry. */
  readonly filingBytesMax: number;
  readonly eventRetentionMs: number;
  /** Maximum bytes of the events in the log of an account. */
  readonly logBytesMax: number;
  /** Maximum bytes of the attempts and dead letters of an account; a third of them is for dead letters. */
  readonly attemptsBytesMax: number;
  /** At least one. */
  readonly roles: ReadonlySet<Role>;
  readonly logLevel: LogLevel;
  /** Destination of traces; null for none. */
  readonly tracing: TracingSettings | null;
};

/** The configuration, or all its problems, one line each. No line contains a given value. */
export type ConfigResult =
  | { readonly ok: true; readonly config: Config; readonly misspelt: readonly MisspeltVariable[] }
  | { readonly ok: false; readonly problems: readonly string[] };

type Name = keyof typeof variables;
type ValueOf<N extends Name> = Extract<
  ReturnType<(typeof variables)[N]['parse']>,
  { readonly ok: true }
>['value'];
type Values = {
  readonly [N in Name]: (typeof variables)[N] extends { default: null; required: false }
    ? ValueOf<N> | null
    : ValueOf<N>;
};

/**
 * Reads all variables of `env` and reports every problem at once; pure. An empty variable counts as not set,
 * space around a value is dropped, and unknown variables are ignored. `misspelt` names those of them that
 * differ from a known one by a few characters.
 */
export function loadConfig(env: Environment): ConfigResult {
  const { values, problems } = readVariables(env);
  const missingHalf = findMissingHalf(env);
  if (missingHalf !== null) problems.push(missingHalf);
  return problems.length === 0
    ? { ok: true, config: arrange(values), misspelt: findMisspelt(env) }
    : { ok: false, problems };
}

function readVariables(env: Environment): { values: Values; problems: string[] } {
  const problems: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(variables)) {
    const { value, problem } = readVariable(variable, textOf(env, name) ?? variable.default);
    values[name] = value;
    if (problem !== null) problems.push(`${name} ${problem}; for example ${name}=${variable.example}`);
  }
  // A null for a required value comes with a problem, and then the values are not used.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return { values: values as Values, problems };
}

function readVariable(
  variable: Variable<unknown>,
  text: string | null,
): { value: unknown; problem: string | null } {
  if (text === null) return { value: null, problem: variable.required ? 'is required and not set' : null };
  const quotes = quotesProblem(text);
  if (quotes !== null) return { value: null, problem: quotes };
  const parsed = variable.parse(text);
  return parsed.ok ? { value: parsed.value, problem: null } : { value: null, problem: parsed.problem };
}

function findMissingHalf(env: Environment): string | null {
  const [url, key] = ['PARTNER_BASE_URL', 'PARTNER_KEY'];
  const [hasUrl, hasKey] = [textOf(env, url) !== null, textOf(env, key) !== null];
  if (hasUrl === hasKey) return null;
  return `${hasUrl ? key : url} is not set although ${hasUrl ? url : key} is; set both, or neither and create accounts over the API`;
}

function arrange(values: Values): Config {
  return {
    redis: {
      url: values.REDIS_URL,
      prefix: values.REDIS_PREFIX,
      unsafe: values.REDIS_UNSAFE,
      waitReplicas: values.REDIS_WAIT_REPLICAS,
    },
    http: { host: values.HOST, port: values.PORT },
    metricsPort: values.METRICS_PORT,
    metricsPerAccount: values.METRICS_PER_ACCOUNT,
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    publicUrl: values.PUBLIC_URL?.replace(/(?<!\/)\/+$/, '') ?? null,
    frameAncestors: values.FRAME_ANCESTORS ?? [],
    apiToken: values.API_TOKEN,
    encryptionKeys: values.ENCRYPTION_KEY,
    defaultAccount: accountOf(values),
    polling: {
      pollIntervalMs: values.POLL_INTERVAL_MS,
      sweepIntervalMs: values.SWEEP_INTERVAL_MS,
      lookMs: values.REJECTION_LOOK_MS,
      maxRps: values.PARTNER_MAX_RPS,
      totalRps: values.PARTNER_TOTAL_RPS ?? null,
      concurrency: values.PARTNER_CONCURRENCY,
      timeoutMs: values.PARTNER_TIMEOUT_MS,
    },
    delivery: {
      timeoutMs: values.DELIVERY_TIMEOUT_MS,
      retryMs: values.DELIVERY_RETRY_MS,
      maxInFlight: values.DELIVERY_MAX_IN_FLIGHT,
      allowCidrs: values.DELIVERY_ALLOW_CIDRS ?? [],
      allowHttp: values.DELIVERY_ALLOW_HTTP,
      disableAfterMs: values.DELIVERY_DISABLE_AFTER_MS,
      attemptDetails: values.DELIVERY_ATTEMPT_DETAILS,
    },
    proxies: {
      egress: values.EGRESS_PROXY,
      egressResolves: values.EGRESS_PROXY_RESOLVES,
      partner: values.PARTNER_PROXY,
      noProxy: values.NO_PROXY ?? [],
    },
    verification: {
      required: values.REQUIRE_VERIFICATION,
      exemptHosts: values.VERIFICATION_EXEMPT_HOSTS ?? [],
    },
    filingBytesMax: values.FILING_MAX_BYTES,
    eventRetentionMs: values.EVENT_RETENTION_MS,
    logBytesMax: values.LOG_MAX_BYTES,
    attemptsBytesMax: values.ATTEMPTS_MAX_BYTES,
    roles: values.ROLES,
    logLevel: values.LOG_LEVEL,
    tracing: tracingOf(values),
  };
}

function accountOf(values: Values): Config['defaultAccount'] {
  const { PARTNER_BASE_URL: baseUrl, PARTNER_KEY: partnerKey } = values;
  return baseUrl === null || partnerKey === null ? null : { baseUrl, partnerKey };
}

// OpenTelemetry appends the path of the signal to the address.
function tracingOf(values: Values): Config['tracing'] {
  const base = values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const ratio = ratioOf(values);
  if (base === null || ratio === 0) return null;
  return {
    url: `${base.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    headers: values.OTEL_EXPORTER_OTLP_HEADERS ?? {},
    serviceName: values.OTEL_SERVICE_NAME,
    ratio,
  };
}

function ratioOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share }: Values): number {
  if (sampler.endsWith('always_off')) return 0;
  return sampler.endsWith('always_on') ? 1 : share;
}
