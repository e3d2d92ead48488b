import {
  findMisspelt,
  quotesProblem,
  textOf,
  type Environment,
  type MisspeltVariable,
} from './environment.ts';
import {
  findUnheeded,
  isTracingOff,
  otelVariables,
  propagatesContext,
  type UnheededVariable,
} from './otel-environment.ts';
import { variables, type Variable } from './variables.ts';
import type { TracingSettings } from '../tracing/tracing.ts';

/** The settings of the operator. Times are milliseconds. */
export type Config = ReturnType<typeof arrange>;

/** The configuration, or all its problems, one line each. No line contains a given value. */
export type ConfigResult =
  | {
      readonly ok: true;
      readonly config: Config;
      readonly misspelt: readonly MisspeltVariable[];
      readonly unheeded: readonly UnheededVariable[];
    }
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
 * differ from a known one by a few characters, `unheeded` those of OpenTelemetry that change nothing.
 */
export function loadConfig(env: Environment): ConfigResult {
  const { values, problems } = readVariables(env);
  problems.push(...findMissingHalves(env));
  if (problems.length > 0) return { ok: false, problems };
  const misspelt = findMisspelt(env);
  const unheeded = findUnheeded(env).filter(({ name }) => misspelt.every((each) => each.name !== name));
  return { ok: true, config: arrange(values, env), misspelt, unheeded };
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

// Variables that mean something together only, and what to do instead of setting both.
const pairs = [
  ['PARTNER_BASE_URL', 'PARTNER_KEY', 'create accounts over the API'],
  ['SMTP_URL', 'SMTP_FROM', 'send no e-mail'],
] as const;

function findMissingHalves(env: Environment): string[] {
  return pairs.flatMap(([first, second, otherwise]) => {
    const [hasFirst, hasSecond] = [textOf(env, first) !== null, textOf(env, second) !== null];
    if (hasFirst === hasSecond) return [];
    const [missing, there] = hasFirst ? [second, first] : [first, second];
    return [`${missing} is not set although ${there} is; set both, or neither and ${otherwise}`];
  });
}

function arrange(values: Values, env: Environment) {
  const { PARTNER_BASE_URL: baseUrl, PARTNER_KEY: partnerKey } = values;
  const { SMTP_URL: server, SMTP_FROM: from, SMTP_ALLOW_DOMAINS: allowDomains } = values;
  return {
    redis: {
      url: values.REDIS_URL,
      prefix: values.REDIS_PREFIX,
      unsafe: values.REDIS_UNSAFE,
      waitReplicas: values.REDIS_WAIT_REPLICAS,
    },
    /** The folder that holds everything of a daemon without a REDIS_URL of its operator. */
    dataDir: values.DATA_DIR,
    http: { host: values.HOST, port: values.PORT },
    /** Port that serves health and metrics, beside the API or without it; null for none. */
    metricsPort: values.METRICS_PORT,
    /** Whether each account has metrics of its own; `auto` decides by their number. */
    metricsPerAccount: values.METRICS_PER_ACCOUNT,
    /** Networks of the proxies whose `X-Forwarded-For` is trusted. */
    trustedProxies: values.TRUSTED_PROXIES ?? [],
    /** Public address of the page, without a trailing slash; null if it is not known. */
    publicUrl: values.PUBLIC_URL,
    /** Origins whose pages may show the page in a frame. */
    frameAncestors: values.FRAME_ANCESTORS ?? [],
    apiToken: values.API_TOKEN,
    /** Newest first, at least one, ids unique. */
    encryptionKeys: values.ENCRYPTION_KEY,
    /**
     * The account `default`; null if the environment does not describe one. `baseUrl` has no trailing slash.
     */
    defaultAccount: baseUrl === null || partnerKey === null ? null : { baseUrl, partnerKey },
    polling: {
      pollIntervalMs: values.POLL_INTERVAL_MS,
      sweepIntervalMs: values.SWEEP_INTERVAL_MS,
      /** Time between two looks at an account; 0 for none, null for a share of its poll interval. */
      lookMs: values.REJECTION_LOOK_MS,
      maxRps: values.PARTNER_MAX_RPS,
      /** Requests a second to one partner host, over all accounts and processes; null for no such bound. */
      totalRps: values.PARTNER_TOTAL_RPS,
      concurrency: values.PARTNER_CONCURRENCY,
      timeoutMs: values.PARTNER_TIMEOUT_MS,
    },
    delivery: {
      timeoutMs: values.DELIVERY_TIMEOUT_MS,
      /** Delays after the 1st, 2nd … failed attempt, before jitter; at least one. */
      retryMs: values.DELIVERY_RETRY_MS,
      maxInFlight: values.DELIVERY_MAX_IN_FLIGHT,
      allowCidrs: values.DELIVERY_ALLOW_CIDRS ?? [],
      allowHttp: values.DELIVERY_ALLOW_HTTP,
      disableAfterMs: values.DELIVERY_DISABLE_AFTER_MS,
      /** Which attempts keep more than their outcome. */
      attemptDetails: values.DELIVERY_ATTEMPT_DETAILS,
    },
    proxies: {
      /** The forward proxy for callbacks and all else that goes to receivers; null for none. */
      egress: values.EGRESS_PROXY,
      /** Whether that proxy resolves names. */
      egressResolves: values.EGRESS_PROXY_RESOLVES,
      /** The forward proxy for polls; null for none. */
      partner: values.PARTNER_PROXY,
      noProxy: values.NO_PROXY ?? [],
    },
    /** The mail server, the sender, and the hosts to which mail may go; null if there is no server. */
    mail: server === null || from === null ? null : { server, from, allowDomains },
    /** Whether endpoints must be verified before anything is sent, and the hosts that need not be. */
    verification: {
      required: values.REQUIRE_VERIFICATION,
      exemptHosts: values.VERIFICATION_EXEMPT_HOSTS ?? [],
    },
    /** Maximum bytes of a filing, as JSON, that its events carry. */
    filingBytesMax: values.FILING_MAX_BYTES,
    eventRetentionMs: values.EVENT_RETENTION_MS,
    /** Maximum bytes of the events in the log of an account. */
    logBytesMax: values.LOG_MAX_BYTES,
    /** Maximum bytes of the attempts and dead letters of an account; a third of them is for dead letters. */
    attemptsBytesMax: values.ATTEMPTS_MAX_BYTES,
    /** At least one. */
    roles: values.ROLES,
    logLevel: values.LOG_LEVEL,
    /** Destination of traces; null for none. */
    tracing: tracingOf(values, env),
  } as const;
}

function tracingOf(values: Values, env: Environment): TracingSettings | null {
  const collector = values.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? values.OTEL_EXPORTER_OTLP_ENDPOINT;
  const ratio = ratioOf(values);
  if (collector === null || ratio === 0 || isTracingOff(env)) return null;
  return { environment: otelVariables(env), ratio, propagates: propagatesContext(env) };
}

function ratioOf({ OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share }: Values): number {
  if (sampler.endsWith('always_off')) return 0;
  return sampler.endsWith('always_on') ? 1 : share;
}
