import { textOf, type Environment } from './environment.ts';

/** A variable of OpenTelemetry that changes nothing, or part of it. */
export interface UnheededVariable {
  readonly name: string;
  /** The values that have an effect; empty if none has. */
  readonly heeded: readonly string[];
}

/** Variables that name one way or several, with commas between, and the ways that the daemon has. */
const ways: Readonly<Record<string, readonly string[]>> = {
  OTEL_SDK_DISABLED: ['true', 'false'],
  OTEL_TRACES_EXPORTER: ['otlp', 'none'],
  OTEL_METRICS_EXPORTER: ['none'],
  OTEL_LOGS_EXPORTER: ['none'],
  OTEL_PROPAGATORS: ['tracecontext', 'baggage', 'none'],
  OTEL_EXPORTER_OTLP_PROTOCOL: ['http/json'],
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ['http/json'],
};

// The first two are the daemon's; OpenTelemetry's own exporter and resources read the others.
const heeded =
  /^OTEL_(?:TRACES_SAMPLER|TRACES_SAMPLER_ARG|SERVICE_NAME|RESOURCE_ATTRIBUTES|EXPORTER_OTLP_(?:TRACES_)?(?:ENDPOINT|HEADERS|TIMEOUT|COMPRESSION|CERTIFICATE|CLIENT_CERTIFICATE|CLIENT_KEY))$/;

/** OpenTelemetry's variables of `env` that are set; pure. */
export function otelVariables(env: Environment): Record<string, string> {
  const names = Object.keys(env).filter((name) => name.startsWith('OTEL_'));
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = textOf(env, name);
      return text === null ? [] : [[name, text]];
    }),
  );
}

/** Whether OTEL_SDK_DISABLED or OTEL_TRACES_EXPORTER ends all traces; pure. */
export function isTracingOff(env: Environment): boolean {
  const exporters = waysOf(env, 'OTEL_TRACES_EXPORTER');
  return isDisabled(env) || (exporters.length > 0 && !exporters.includes('otlp'));
}

/** Whether callbacks carry the context of their trace: unless OTEL_PROPAGATORS lacks `tracecontext`; pure. */
export function propagatesContext(env: Environment): boolean {
  const propagators = waysOf(env, 'OTEL_PROPAGATORS');
  return propagators.length === 0 || propagators.includes('tracecontext');
}

/** OpenTelemetry's variables that are set and not heeded; none with OTEL_SDK_DISABLED. Pure. */
export function findUnheeded(env: Environment): UnheededVariable[] {
  if (isDisabled(env)) return [];
  return Object.keys(otelVariables(env)).flatMap((name) => {
    const has = ways[name] ?? [];
    const isHeeded =
      heeded.test(name) || (has.length > 0 && waysOf(env, name).every((way) => has.includes(way)));
    return isHeeded ? [] : [{ name, heeded: has }];
  });
}

function isDisabled(env: Environment): boolean {
  return waysOf(env, 'OTEL_SDK_DISABLED').includes('true');
}

function waysOf(env: Environment, name: string): string[] {
  return (textOf(env, name) ?? '')
    .toLowerCase()
    .split(',')
    .map((way) => way.trim())
    .filter((way) => way !== '');
}
